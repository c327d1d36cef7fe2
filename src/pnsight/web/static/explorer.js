"use strict";
// Answers at once: whatever changes in a form is fetched from the server and shown, and the address follows.
// Without this script the forms still work, with a button.

const page = (selector) => document.querySelector(selector);

// On a phone not all tabs fit: that of this page is moved into sight.
const tabs = page("nav ul");
const tab = page("nav [aria-current]");
if (tab) tabs.scrollLeft = tab.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - tab.offsetWidth) / 2;

/** What a form says, without what is left empty. */
function saidBy(form) {
  const said = new URLSearchParams();
  for (const [key, value] of new FormData(form)) {
    if (typeof value === "string" && value !== "") said.append(key, value);
  }
  return said;
}

const under_way = new Map();

/** Show what an address answers inside an element; a later request for the same element takes the place of this one. */
async function show(target, address, options = {}) {
  under_way.get(target)?.abort();
  const control = new AbortController();
  under_way.set(target, control);
  target.setAttribute("aria-busy", "true");
  let kept = false;
  later(() => (page("#said").textContent = "Working…"), 700, "working");
  try {
    const response = await fetch(address, { ...options, signal: control.signal });
    const text = await response.text();
    if (control.signal.aborted) return false;
    if (!response.headers.get("content-type")?.startsWith("text/html")) fail(target, text);
    else if (!(kept = tellField(fieldProblem(text)))) target.innerHTML = text;
  } catch (error) {
    if (control.signal.aborted) return false;
    fail(target, "The server does not answer. Is pnsight serve still running?");
  }
  target.removeAttribute("aria-busy");
  clearTimeout(waiting.get("working"));
  if (kept) return false;
  if (target.querySelector("[data-again]")) later(() => show(target, address, options), 2000, target);
  return true;
}

/** What is wrong with a field, if that is what an answer says. */
function fieldProblem(text) {
  return new DOMParser().parseFromString(text, "text/html").querySelector("[data-field]")?.textContent;
}

/** Say beside the fields what is wrong with one of them, while the last answer stays; or that nothing is any more. */
function tellField(problem) {
  const place = page("#field-problem");
  if (!place) return false;
  place.hidden = !problem;
  place.textContent = problem ? `${problem} What is shown is still the last answer.` : "";
  return Boolean(problem);
}

/** Say in place of a result why there is none. */
function fail(target, text) {
  const message = document.createElement("p");
  message.className = "problem";
  message.textContent = text;
  const title = target.querySelector("h2");
  if (title?.id === "answer-title") title.textContent = "No answer";
  page("#details")?.replaceChildren();
  target.replaceChildren(...(title ? [title] : []), message);
}

/** Say what is wrong with a field, if anything is: a browser sends nothing for what is no number. */
function refused(form, target) {
  const wrong = form.querySelector("input:invalid");
  if (!wrong) return false;
  under_way.get(target)?.abort();
  target.removeAttribute("aria-busy");
  const why = wrong.validity.badInput ? "give a number, such as 0.4." : wrong.validationMessage;
  return tellField(`${wrong.labels[0].textContent.trim()}: ${why}`);
}

const waiting = new Map();

/** Do something a little later, and only the last of what was asked for under the same key. */
function later(action, milliseconds, key) {
  clearTimeout(waiting.get(key));
  waiting.set(key, setTimeout(action, milliseconds));
}

/** Tell a screen reader what a part of the page now says. */
function tell(target) {
  const found = target.querySelector("[data-said]")?.dataset.said ?? target.querySelector(".problem")?.textContent;
  if (found && page("#said").textContent !== found) page("#said").textContent = found;
}

/** Keep what was asked in the address, as a step that one can go back from or not, and in the links to other pages. */
function remember(query, step = false) {
  const address = location.pathname + (query ? `?${query}` : "");
  if (step && address !== location.pathname + location.search) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  const kept = new URLSearchParams(query);
  for (const own of ["by", "text", "sort", "order"]) kept.delete(own);
  for (const link of document.querySelectorAll("a[data-keep]")) link.search = kept.size ? kept : "";
  tellAddress();
}

/** Load the page anew where other tables are to answer: what stands at its head is about those. */
function anotherTable(form, event) {
  if (event.target.name !== "trial_alone") return false;
  location.search = saidBy(form);
  return true;
}

/** Say what the quantity that is chosen means. */
function tellMeaning() {
  page("#meaning").textContent = page("#quantity").selectedOptions[0].dataset.meaning;
}

// --- sharing ---------------------------------------------------------------------------------------------

function tellAddress() {
  if (page("#link")) page("#link").textContent = location.href;
}

/** Copy the address; where the browser does not allow that, mark it for the person to copy. */
async function copyAddress() {
  try {
    await navigator.clipboard.writeText(location.href);
    page("#copied").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(page("#link"));
    page("#link").focus();
    page("#copied").textContent = "The address is marked: copy it with Ctrl+C or ⌘C.";
  }
  later(() => (page("#copied").textContent = ""), 8000, "copied");
}

function shareable() {
  if (!page("#copy")) return;
  page("#copy").hidden = false;
  tellAddress();
  document.addEventListener("click", (event) => {
    if (event.target.id === "copy") copyAddress();
  });
}

// --- what was asked before -------------------------------------------------------------------------------

const KEPT = "pnsight-asked", MOST_KEPT = 12;

/** What was asked in this tab, the last first; a browser that keeps nothing has none. */
function askedBefore() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT)) ?? [];
  } catch {
    return [];
  }
}

/** Keep what the page now says among what was asked in this tab, once. */
function keepAsked() {
  const address = location.pathname + location.search;
  const people = [...document.querySelectorAll("#answer .tag > span:first-child")].map((each) => each.textContent);
  const bounds = [...document.querySelectorAll("#details .numbers tbody tr:first-child b")].map((each) => each.textContent);
  const decision = page("#answer-title")?.textContent.trim();
  const words = `${people.join(", ") || "Everyone"}: ${decision}${bounds.length ? `, ${bounds.join(" to ")}` : ""}`;
  const found = [{ address, words }, ...askedBefore().filter((each) => each.address !== address)].slice(0, MOST_KEPT);
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(found));
  } catch {
    return;
  }
  tellAsked();
}

/** Show what was asked before, but for what the page is about. */
function tellAsked() {
  const card = page("#history");
  if (!card) return;
  const others = askedBefore().filter((each) => each.address !== location.pathname + location.search);
  card.hidden = !others.length;
  card.querySelector("ol").replaceChildren(
    ...others.map((each) => {
      const line = document.createElement("li"), link = document.createElement("a");
      link.href = each.address;
      link.textContent = each.words;
      line.append(link);
      return line;
    }),
  );
}

document.addEventListener("click", (event) => {
  if (event.target.id !== "forget") return;
  sessionStorage.removeItem(KEPT);
  tellAsked();
});

// --- the explorer ----------------------------------------------------------------------------------------

function explore(form) {
  let step = false;

  async function ask() {
    const answer = page("#answer"), advice = page("#advice");
    if (refused(form, answer)) return;
    const query = saidBy(form).toString();
    const suffix = query ? `?${query}` : "";
    if (!(await show(answer, form.dataset.answer + suffix))) return;
    place(answer);
    tell(answer);
    remember(answer.querySelector("[data-address]")?.dataset.address ?? query, step);
    step = false;
    summarise();
    keepAsked();
    if (answer.querySelector(".problem")) withoutAdvice();
    else if (advice) await show(advice, form.dataset.advice + suffix);
  }

  /** What the answer says in detail stands beside the form. */
  function place(answer) {
    const details = answer.querySelector(".details");
    page("#details").replaceChildren(...(details?.childNodes ?? []));
    details?.remove();
  }

  /** Ask soon; a click is a step to go back from, what is typed is not. */
  function soon(milliseconds, click) {
    step ||= click;
    later(ask, milliseconds, form);
  }

  function summarise() {
    const decision = page("#answer .decision");
    const bounds = [...document.querySelectorAll("#details .numbers tbody tr:first-child b")].map((end) => end.textContent);
    const known = bounds.length && bounds[0] !== "–";
    const harm = page("#answer [data-harm]")?.dataset.harm;
    const said = [known ? bounds.join(" to ") : "", harm].filter(Boolean).join("; ");
    page("#summary").replaceChildren(...(decision?.cloneNode(true).childNodes ?? []), said ? ` ${said}` : "");
  }

  /** Advice is about an answer: without one it goes. */
  function withoutAdvice() {
    const advice = page("#advice");
    summarise();
    if (!advice) return;
    under_way.get(advice)?.abort();
    advice.removeAttribute("aria-busy");
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = advice.dataset.without;
    advice.replaceChildren(advice.querySelector("h2"), hint);
  }

  /** Show the page of the address, after going back or forward. */
  async function restore() {
    under_way.forEach((control) => control.abort());
    clearTimeout(waiting.get(form));
    try {
      const found = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
      form.replaceChildren(...found.querySelector("#explore").childNodes);
      page("#answer").replaceChildren(...found.querySelector("#answer").childNodes);
      page("#summary").replaceChildren(...found.querySelector("#summary").childNodes);
    } catch {
      return location.reload();
    }
    remember(location.search.slice(1));
    tell(page("#answer"));
    begin();
  }

  function begin() {
    findable(form);
    keepAsked();
    if (page("#copy")) page("#copy").hidden = false;
    const advice = page("#advice");
    if (advice?.querySelector("[data-again]")) show(advice, form.dataset.advice + location.search);
  }

  form.addEventListener("change", (event) => anotherTable(form, event) || soon(0, event.target.type !== "number"));
  form.addEventListener("input", (event) => {
    if (event.target.type === "number") soon(300, false);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    soon(0, false);
  });
  page("#main").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (link.dataset.focus) focusOn(form.querySelector(`#${link.dataset.focus}`));
    else if (link.dataset.set) choose(link.dataset.set, link.dataset.level);
    else if (link.dataset.open) choose(link.dataset.open, "");
    else if ("everyone" in link.dataset) leaveOpen();
    else return;
    event.preventDefault();
    if (!link.dataset.focus) soon(0, true);
  });
  addEventListener("popstate", restore);

  function choose(name, level) {
    const group = [...form.querySelectorAll("fieldset[data-name]")].find((each) => each.dataset.name === name);
    const number = group.querySelector("input.number");
    const found = number ?? [...group.querySelectorAll("input")].find((each) => each.value === level);
    if (number) number.value = level;
    else found.checked = true;
    found.focus({ preventScroll: true });
  }

  function leaveOpen() {
    form.querySelectorAll(".chip.open input").forEach((open) => (open.checked = true));
    form.querySelectorAll("input.number").forEach((number) => (number.value = ""));
  }

  function focusOn(group) {
    group.hidden = false;
    group.scrollIntoView({ block: "center" });
    group.querySelector("input.number, input:checked").focus({ preventScroll: true });
  }

  begin();
}

/** Show only the covariates that mention what is typed. */
function findable(form) {
  const field = form.querySelector("#find");
  if (!field) return;
  field.closest(".finder").hidden = false;
  const groups = [...form.querySelectorAll("fieldset[data-name]")];
  const texts = groups.map((group) => group.textContent.toLowerCase());
  field.addEventListener("input", (event) => {
    event.stopPropagation();
    const wanted = field.value.trim().toLowerCase();
    groups.forEach((group, k) => (group.hidden = !texts[k].includes(wanted)));
    page("#none-found").hidden = groups.some((group) => !group.hidden);
  });
  field.addEventListener("change", (event) => event.stopPropagation());
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
}

// --- the other pages -------------------------------------------------------------------------------------

/** A form whose result is a part of the page. */
function live(form) {
  const target = page(form.dataset.live);
  const posted = form.method === "post";

  async function send() {
    if (refused(form, target)) return;
    const options = posted ? { method: "POST", body: new FormData(form) } : {};
    const query = posted ? "" : saidBy(form).toString();
    if (!(await show(target, form.dataset.fragment + (query ? `?${query}` : ""), options))) return;
    tell(target);
    if (!posted) remember(query);
    else target.scrollIntoView({ block: "nearest" });
  }

  /** Groups ranked by benefit or by harm are asked about that. */
  function agree(changed) {
    const { by, quantity } = form.elements;
    const named = [...quantity.options].find((each) => each.value === by?.value);
    if (!named || named.selected) return;
    if (changed.name === "by") named.selected = true;
    else if (changed.name === "quantity") by.value = "lower";
    tellMeaning();
  }

  form.addEventListener("submit", (event) => {
    if (event.submitter?.hasAttribute("formaction")) return; // a file to keep: the browser's business
    event.preventDefault();
    send();
  });
  if (!posted) {
    form.addEventListener("change", (event) => {
      if (anotherTable(form, event)) return;
      agree(event.target);
      later(send, 0, form);
    });
    form.addEventListener("input", (event) => {
      if (event.target.type !== "radio" && event.target.type !== "checkbox") later(send, 250, form);
    });
    target.addEventListener("click", async (event) => {
      const link = event.target.closest("a[data-swap]");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const place = [...target.querySelectorAll("a[data-swap]")].indexOf(link);
      const search = new URL(link.href).search;
      if (await show(target, link.dataset.swap)) {
        remember(search.slice(1));
        form.elements.sort.value = new URLSearchParams(search).get("sort") ?? "place";
        target.querySelectorAll("a[data-swap]")[place]?.focus();
      }
    });
  }
  if (target.querySelector("[data-again]")) show(target, form.dataset.fragment + location.search);
}

/** What is left empty need not stand in the address. */
function tidy(form) {
  for (const each of form.elements) each.disabled ||= each.name !== "" && each.value === "";
}

shareable();
document.addEventListener("submit", (event) => "tidy" in event.target.dataset && tidy(event.target));
document.addEventListener("change", (event) => event.target.id === "quantity" && tellMeaning());
// Which arms are compared is in the words of the whole page.
document.addEventListener("change", (event) => event.target.dataset.afresh !== undefined && event.target.form.requestSubmit());
if (page("#explore")) explore(page("#explore"));
document.querySelectorAll("form[data-live]").forEach(live);
