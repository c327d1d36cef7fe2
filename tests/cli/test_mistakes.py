"""A user's mistake ends with exit code 2 and one message that names what was given: no traceback, nothing written."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import subprocess
import sys

import pytest

import pnsight
from cases import write_csv

FIT = "--treatment drug --outcome well --model plug-in --out new"
TRIAL = "sex,age,drug,well"
LINES = [f"{sex},{age},{x},{y}" for sex in ("Female", "Male") for age in ("young", "old") for x in "01" for y in "01"]


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A folder of good and bad tables and models; mistakes must leave it as it is."""
    folder = tmp_path_factory.mktemp("workshop")
    good = write_csv(folder / "good.csv", TRIAL, LINES)
    _bad_tables(folder)
    _models(folder, good)
    (folder / "folder.csv").mkdir()
    (folder / "empty_folder").mkdir()
    (folder / "thesis").mkdir()
    (folder / "thesis" / "chapter.txt").write_text("years of work")
    return folder


def _bad_tables(folder):
    write_csv(folder / "header.csv", TRIAL)
    (folder / "empty.csv").write_text("")
    (folder / "table.xlsx").write_text("PK")
    (folder / "damaged.parquet").write_bytes(b"PAR1 damaged")
    (folder / "latin.csv").write_bytes("sex,age,drug,well\nféminin,old,1,1\n".encode("latin-1"))
    write_csv(folder / "three.csv", TRIAL, LINES, ["Female,old,2,1"])
    write_csv(folder / "one_two.csv", TRIAL, [line.replace(",0,", ",2,") for line in LINES])
    write_csv(folder / "one_arm.csv", TRIAL, [line for line in LINES if line.split(",")[2] == "1"])
    write_csv(folder / "weeks.csv", TRIAL, [f"Female,old,{i % 2},{i}" for i in range(9)])
    write_csv(folder / "unshared.csv", "gender,years,drug,well", LINES)
    write_csv(folder / "gaps.csv", TRIAL, LINES, [",old,1,1"])
    write_csv(folder / "no_outcome.csv", TRIAL, ["Female,old,1,", "Male,old,0,"])
    write_csv(folder / "ragged.csv", TRIAL, LINES, ["Male,old"], LINES)
    write_csv(folder / "heights.csv", "height,weight", ["180,80"])
    write_csv(folder / "cased.csv", "Sex,age", ["Female,old"])
    write_csv(folder / "typo.csv", "sex,age", ["Femal,old"])
    wide = [",".join("01"[(i >> (j % 4)) & 1] for j in range(20)) + f",{i % 2},{i // 2 % 2}" for i in range(16)]
    write_csv(folder / "wide.csv", ",".join(f"z{j}" for j in range(20)) + ",drug,well", wide)


def _models(folder, good):
    def fit(name, *tables):
        study = pnsight.read_study(*tables, treatment="drug", outcome="well")
        pnsight.save(pnsight.PlugIn().fit(study), folder / name)

    fit("model", good, good)
    fit("trial", good)
    fit("wide", folder / "wide.csv", folder / "wide.csv")
    for name in ("cut", "later", "lacking", "arrayless", "short", "foreign"):
        shutil.copytree(folder / "model", folder / name)
    text = (folder / "model" / "model.json").read_text(encoding="utf-8")
    description = json.loads(text)
    (folder / "cut" / "model.json").write_text(text[:100])
    (folder / "later" / "model.json").write_text(json.dumps({**description, "format_version": 2}))
    (folder / "lacking" / "model.json").write_text(json.dumps({k: v for k, v in description.items() if k != "study"}))
    (folder / "foreign" / "model.json").write_text('{"keras": 3}')
    (folder / "arrayless" / description["arrays"]).unlink()
    whole = (folder / "short" / description["arrays"]).read_bytes()
    (folder / "short" / description["arrays"]).write_bytes(whole[:50])


MISTAKES = {
    # tables
    "missing file": (f"fit nowhere.csv good.csv {FIT}", ["nowhere.csv", "does not exist"]),
    "missing second file": (f"fit good.csv nowhere.csv {FIT}", ["observational", "nowhere.csv"]),
    "empty file": (f"fit empty.csv good.csv {FIT}", ["empty.csv", "is empty"]),
    "header only": (f"fit header.csv good.csv {FIT}", ["experimental", "no rows"]),
    "header only registry": (f"fit good.csv header.csv {FIT}", ["observational", "no rows"]),
    "folder for a file": (f"fit folder.csv good.csv {FIT}", ["folder.csv", "is a folder"]),
    "unknown ending": (f"fit table.xlsx good.csv {FIT}", ["table.xlsx", ".csv", ".parquet"]),
    "damaged Parquet": (f"fit damaged.parquet good.csv {FIT}", ["damaged.parquet", "cannot be read"]),
    "not UTF-8": (f"fit latin.csv good.csv {FIT}", ["latin.csv", "cannot be read"]),
    "row too short": (f"fit ragged.csv good.csv {FIT}", ["experimental"]),
    "missing column": (
        "fit good.csv good.csv --treatment drgu --outcome well --model plug-in --out new",
        ["'drgu'", "sex, age, drug, well", "Did you mean 'drug'?"],
    ),
    "missing covariate": (f"fit good.csv good.csv --covariates sex,aeg {FIT}", ["'aeg'", "Did you mean 'age'?"]),
    "treatment of three values": (f"fit three.csv good.csv {FIT}", ["'drug'", "0, 1, 2", "expected two"]),
    "treatment coded 1 and 2": (f"fit one_two.csv one_two.csv {FIT}", ["'drug'", "1, 2", "--treated"]),
    "one arm absent": (f"fit one_arm.csv good.csv {FIT}", ["'drug'", "none is untreated", "both arms"]),
    "outcome not binary": (f"fit weeks.csv good.csv {FIT}", ["outcome", "'well'", "9 values"]),
    "no outcome known": (f"fit no_outcome.csv good.csv {FIT}", ["experimental", "no rows with both"]),
    "treatment is outcome": (
        "fit good.csv good.csv --treatment drug --outcome drug --model plug-in --out new",
        ["both column 'drug'"],
    ),
    "covariate is treatment": (f"fit good.csv good.csv --covariates sex,drug {FIT}", ["'drug'", "covariate too"]),
    "covariate named twice": (f"fit good.csv good.csv --covariates sex,sex {FIT}", ["'sex'", "twice"]),
    "no shared columns": (f"fit good.csv unshared.csv {FIT}", ["sex, age", "gender, years", "--covariates ''"]),
    "gaps in a covariate": (f"fit gaps.csv good.csv {FIT}", ["'sex'", "1 rows", "--covariates"]),
    "treated value absent": (f"fit good.csv good.csv --treated yes {FIT}", ["'yes'", "0, 1"]),
    "option left out": ("fit good.csv good.csv --outcome well --out new", ["--treatment"]),
    # populations
    "unknown population": ("oracle mediatr", ["'mediatr'", "Did you mean 'mediator'?"]),
    "unknown population to simulate": ("simulate tree:x --out new", ["'tree:x'", "kind:seed"]),
    "no rows to simulate": ("simulate mediator --experimental 0 --out new", ["--experimental", "0"]),
    "impossible coin": (
        "simulate mediator --experimental 9 --observational 9 --assignment 1.5 --out new",
        ["assignment is 1.5", "between 0 and 1"],
    ),
    "negative seed": ("simulate mediator --seed -3 --out new", ["--seed", "-3"]),
    "rows of a population": ("oracle mediator --space observed", ["--space observed", "exact or mask"]),
    # queries
    "malformed query": ("query model sex", ["'sex'", "name=level", "sex=Female"]),
    "short query too short": ("oracle mediator 110", ["'110'", "3 characters", "10 covariates"]),
    "short query too long": ("oracle mediator 11010011101", ["'11010011101'", "11 characters"]),
    "unknown symbol": ("oracle mediator 2101001110", ["'z1'", "'2'"]),
    "unknown level": ("query model sex=Femal", ["'sex'", "'Femal'", "Did you mean 'Female'?"]),
    "unknown covariate": ("query model sx=Female", ["'sx'", "sex, age", "Did you mean 'sex'?"]),
    "contradiction": ("query model sex=Female,sex=Male", ["'sex'", "'Female'", "'Male'"]),
    "query and space": ("query model sex=Male --space exact", ["queries and --space", "use one"]),
    "oracle query and space": ("oracle mediator 1101001110 --space exact", ["--space exact", "use one"]),
    "query and file": ("query model sex=Male --queries good.csv", ["queries and --queries", "use one"]),
    "space and file": ("query model --space mask --queries good.csv", ["--space and --queries", "use one"]),
    "query file missing": ("query model --queries nowhere.csv", ["nowhere.csv", "does not exist"]),
    "query file without covariates": ("query model --queries heights.csv", ["height, weight", "sex, age"]),
    "query file column in another case": ("query model --queries cased.csv", ["'Sex'", "'sex'"]),
    "query file with an unknown level": ("query model --queries typo.csv", ["'Femal'", "Did you mean 'Female'?"]),
    "too many queries": ("query wide --space mask", ["20 covariates", "3,486,784,401", "--space observed"]),
    "necessity from a trial alone": ("query trial --quantity pn", ["pn ", "observational table"]),
    # models
    "no model": ("query nowhere", ["'nowhere'", "pnsight fit --out"]),
    "file for a model": ("query good.csv", ["'good.csv'", "pnsight fit --out"]),
    "folder that is not a model": ("query empty_folder", ["'empty_folder'", "no model.json"]),
    "model of another program": ("query foreign", ["'foreign'", "not pnsight's"]),
    "model description cut short": ("query cut", ["'cut'", "model.json"]),
    "model description lacking a part": ("query lacking", ["lacking"]),
    "model of a later format": ("query later", ["'later'", "format 2", "fit the model again"]),
    "model without arrays": ("query arrayless", ["arrayless", "cannot be read"]),
    "model arrays cut short": ("query short", ["short", "cannot be read"]),
    # options
    "unknown quantity": ("query model --quantity pxs", ["--quantity", "'pxs'"]),
    "unknown format": ("query model --format xlsx", ["--format", "'xlsx'"]),
    "unknown space": ("query model --space all", ["--space", "'all'"]),
    "unknown model": (f"fit good.csv good.csv {FIT} --model forest", ["--model", "'forest'"]),
    "unknown option": ("query model --colour red", ["--colour"]),
    "unknown command": ("querry model", ["querry"]),
    "level beyond one": ("query model --level 2", ["--level", "2"]),
    # outputs
    "Parquet on the screen": ("query model --format parquet", ["--out FILE.parquet"]),
    "answer into a folder that is not there": ("query model --out nowhere/answer.csv", ["nowhere/answer.csv"]),
    "Parquet into a folder that is not there": ("oracle direct --out nowhere/a.parquet", ["nowhere/a.parquet"]),
    "answer onto a folder": ("query model --out empty_folder", ["empty_folder"]),
    "model into a folder of other things": (
        "fit good.csv good.csv --treatment drug --outcome well --model plug-in --out thesis",
        ["'thesis'", "other files"],
    ),
    "model onto a file": (
        "fit good.csv good.csv --treatment drug --outcome well --model plug-in --out good.csv",
        ["'good.csv'", "it is a file"],
    ),
    "model below a file": (
        "fit good.csv good.csv --treatment drug --outcome well --model plug-in --out good.csv/model",
        ["good.csv/model"],
    ),
    "simulation onto a file": ("simulate direct --experimental 9 --observational 9 --out good.csv", ["good.csv"]),
}


def contents(folder) -> dict[str, str]:
    """Everything below a folder, by path, with a digest of each file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(mistake, workshop, attempt, monkeypatch):
    command, named = MISTAKES[mistake]
    monkeypatch.chdir(workshop)
    before = contents(workshop)
    ended = attempt(*shlex.split(command))
    assert ended.code == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err
    for words in named:
        assert words in ended.err
    assert contents(workshop) == before


def test_our_own_messages_are_one_line_that_names_the_program(workshop, attempt, monkeypatch):
    monkeypatch.chdir(workshop)
    for mistake in ("missing file", "unknown level", "no model", "unknown population", "too many queries"):
        complaint = attempt(*shlex.split(MISTAKES[mistake][0])).err
        assert complaint.startswith("pnsight: ")
        assert complaint.count("\n") == 1


def test_a_mistake_ends_the_real_program_with_code_two(workshop):
    command = [sys.executable, "-m", "pnsight", *shlex.split(MISTAKES["unknown level"][0])]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=workshop)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("pnsight: covariate 'sex' has no level 'Femal'")
