"""A user's mistake ends with exit code 2 and one message that names what was given: no traceback, nothing written."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import json
import shlex
import shutil
import sqlite3
import subprocess
import sys

import pyarrow
import pyarrow.parquet
import pytest

import pnsight
from cases import write_csv
from pnsight.models.persistence import FORMAT_VERSION
from stored_models import write_sealed, write_unsealed

FIT = "--treatment drug --outcome well --model plug-in --out new"
WEIGHED = "--covariates sex --weight w"
CHANCES = "--covariates sex --assignment p"
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
    write_csv(folder / "no_treatment.csv", TRIAL, ["Female,old,,1", "Male,old,,0"])
    write_csv(folder / "cases.csv", "Drug,age,drug,well", LINES)
    write_csv(folder / "ragged.csv", TRIAL, LINES, ["Male,old"], LINES)
    write_csv(folder / "heights.csv", "height,weight", ["180,80"])
    write_csv(folder / "cased.csv", "Sex,age", ["Female,old"])
    write_csv(folder / "typo.csv", "sex,age", ["Femal,old"])
    _odd_files(folder)
    _odd_numbers(folder)
    _database(folder)
    wide = [",".join("01"[(i >> (j % 4)) & 1] for j in range(20)) + f",{i % 2},{i // 2 % 2}" for i in range(16)]
    write_csv(folder / "wide.csv", ",".join(f"z{j}" for j in range(20)) + ",drug,well", wide)


def _odd_files(folder):
    good = folder / "good.csv"
    columns = {"sex": ["F", "M"] * 8, "drug": [0, 0, 1, 1] * 4, "well": [0, 1, 1, 1] * 4}
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "whole.parquet")
    (folder / "cut.parquet").write_bytes((folder / "whole.parquet").read_bytes()[:-20])
    twice = pyarrow.Table.from_arrays([pyarrow.array(v) for v in (*columns.values(), ["a"] * 16)], [*columns, "sex"])
    pyarrow.parquet.write_table(twice, folder / "twice.parquet")
    days = [datetime.date(2024, 1, 1 + i) for i in range(16)]
    nested = {**columns, "visit": days, "tags": [["a", "b"]] * 16}
    pyarrow.parquet.write_table(pyarrow.table(nested), folder / "nested.parquet")
    (folder / "cut.csv.gz").write_bytes(gzip.compress(good.read_bytes() * 50)[:-30])
    (folder / "not.csv.gz").write_bytes(good.read_bytes())
    (folder / "wide_letters.csv").write_bytes(good.read_text().encode("utf-16"))
    late = good.read_bytes() + "Masculin, âgé,old,1,1\n".encode("latin-1") * 3
    (folder / "late_letter.csv").write_bytes(late)
    write_csv(folder / "twice.csv", "sex,Sex,drug,well", LINES)
    write_csv(folder / "part-1.csv", TRIAL, LINES)
    write_csv(folder / "part-2.csv", "sex,years,drug,well", LINES)
    write_csv(folder / "mixed-1.csv", TRIAL, LINES)
    shutil.copy(folder / "whole.parquet", folder / "mixed-2.parquet")


def _odd_numbers(folder):
    """Tables of people with numbers: an identifier, a length, a weight and a probability in each row."""

    def table(name, **columns):
        rows = [
            {
                "sex": line.split(",")[0],
                "id": f"p{i}",
                "cm": 150 + i,
                "w": 1,
                "p": 0.5,
                "drug": i % 2,
                "well": i // 2 % 2,
            }
            | {column: values[i % len(values)] for column, values in columns.items()}
            for i, line in enumerate(LINES * 4)
        ]
        write_csv(folder / f"{name}.csv", ",".join(rows[0]), [",".join(map(str, row.values())) for row in rows])

    table("people")
    table("negative", w=[1, -2])
    table("unweighed", w=[1, "", 2, 3])
    table("not_a_number", w=[1, "nan"])
    table("heavy", w=["heavy", 1])
    table("weightless", w=[0])
    table("certain", p=[0.5, 1])
    table("impossible", p=[0.5, 1.5])
    table("unassigned", p=[0.5, ""])
    table("tall", cm=["tall", 170, 180])
    table("endless", cm=["inf", 170, 180])
    table("same", cm=[170])
    table("unmeasured", cm=[""])
    table("blank", sex=[""])
    table("measured", cm=[i / 7 for i in range(64)], id=["a"])


def _database(folder):
    with sqlite3.connect(folder / "trial.db") as connection:
        connection.execute("CREATE TABLE people (sex TEXT, age TEXT, drug INTEGER, well INTEGER)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", [line.split(",") for line in LINES])
    connection.close()


def _models(folder, good):
    def fit(name, *tables):
        study = pnsight.read_study(*tables, treatment="drug", outcome="well")
        pnsight.save(pnsight.PlugIn().fit(study), folder / name)

    fit("model", good, good)
    people = pnsight.read_study(
        folder / "people.csv", treatment="drug", outcome="well", covariates=["cm"], bands={"cm": [150, 180, 250]}
    )
    pnsight.save(pnsight.PlugIn().fit(people), folder / "banded")
    fit("trial", good)
    fit("wide", folder / "wide.csv", folder / "wide.csv")
    for name in ("cut", "later", "first", "lacking", "damaged", "arrayless", "short", "foreign"):
        shutil.copytree(folder / "model", folder / name)
    text = (folder / "model" / "model.json").read_text(encoding="utf-8")
    description = json.loads(text)
    (folder / "cut" / "model.json").write_text(text[:100])
    (folder / "later" / "model.json").write_text(json.dumps({**description, "format_version": 99}))
    (folder / "first" / "model.json").write_text(json.dumps({**description, "format_version": 1}))
    write_sealed(folder / "lacking", {k: v for k, v in description.items() if k != "study"})
    write_unsealed(folder / "damaged", {**description, "model": "plug-on"})
    (folder / "foreign" / "model.json").write_text('{"keras": 3}')
    arrays = description["arrays"]["file"]
    (folder / "arrayless" / arrays).unlink()
    whole = (folder / "short" / arrays).read_bytes()
    (folder / "short" / arrays).write_bytes(whole[:50])


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
    "not UTF-8": (f"fit latin.csv good.csv {FIT}", ["latin.csv", "cannot be read", "UTF-8"]),
    "not UTF-8 late": (f"fit late_letter.csv good.csv {FIT}", ["experimental", "cannot be read"]),
    "UTF-16": (f"fit wide_letters.csv good.csv {FIT}", ["wide_letters.csv", "UTF-16", "iconv"]),
    "Parquet cut short": (f"fit cut.parquet good.csv {FIT}", ["cut.parquet", "cannot be read"]),
    "gzip cut short": (f"fit cut.csv.gz good.csv {FIT}", ["experimental", "cannot be read"]),
    "gzip that is none": (f"fit not.csv.gz good.csv {FIT}", ["not.csv.gz", "cannot be read"]),
    "column twice": (f"fit twice.csv good.csv {FIT}", ["twice.csv", "more than one column called 'sex'"]),
    "column twice in Parquet": (f"fit twice.parquet good.csv {FIT}", ["twice.parquet", "more than one column"]),
    "column of lists": (f"fit nested.parquet --covariates tags {FIT}", ["'tags'", "lists", "--exclude"]),
    "pattern without files": (f"fit 'none-*.csv' good.csv {FIT}", ["none-*.csv", "neither a file nor a pattern"]),
    "pattern of two kinds": (f"fit 'mixed-*' good.csv {FIT}", ["mixed-1.csv", "mixed-2.parquet", "one kind"]),
    "pattern of other columns": (f"fit 'part-*.csv' good.csv {FIT}", ["part-1.csv", "part-2.csv", "years"]),
    "identifier": (f"fit people.csv {FIT}", ["'id'", "64 levels", "--exclude", "--bands", "--merge-rare"]),
    "length without bands": (f"fit measured.csv {FIT}", ["cm is a number", "--bands cm=4"]),
    "row too short": (f"fit ragged.csv good.csv {FIT}", ["experimental"]),
    "missing column": (
        "fit good.csv good.csv --treatment drgu --outcome well --model plug-in --out new",
        ["'drgu'", "sex, age, drug, well", "Did you mean 'drug'?"],
    ),
    "missing covariate": (f"fit good.csv good.csv --covariates sex,aeg {FIT}", ["'aeg'", "Did you mean 'age'?"]),
    "treatment of three values": (
        f"fit three.csv good.csv {FIT}",
        ["'drug'", "0 (16 rows), 1 (16 rows), 2 (1 row)", "expected two"],
    ),
    "treatment coded 1 and 2": (
        f"fit one_two.csv one_two.csv {FIT}",
        ["'drug'", "1 (16 rows), 2 (16 rows)", "--treated (treated=)."],
    ),
    "one arm absent": (f"fit one_arm.csv good.csv {FIT}", ["'drug'", "none is untreated", "both arms"]),
    "outcome not binary": (f"fit weeks.csv good.csv {FIT}", ["outcome", "'well'", "9 values"]),
    "no outcome known": (f"fit no_outcome.csv good.csv {FIT}", ["experimental", "no rows with both"]),
    "no treatment known": (f"fit no_treatment.csv {FIT}", ["treatment column 'drug' has no value in any row"]),
    "treated value empty": (f"fit good.csv --treated '' {FIT}", ["'drug'", "no value ''", "0 (8 rows), 1 (8 rows)"]),
    "columns that differ by case": (f"fit cases.csv {FIT}", ["'Drug', also written 'drug'", "case"]),
    "treatment is outcome": (
        "fit good.csv good.csv --treatment drug --outcome drug --model plug-in --out new",
        ["both column 'drug'"],
    ),
    "covariate is treatment": (f"fit good.csv good.csv --covariates sex,drug {FIT}", ["'drug'", "covariate too"]),
    "covariate to leave out is nowhere": (
        f"fit good.csv good.csv --exclude aeg {FIT}",
        ["'aeg'", "Did you mean 'age'?"],
    ),
    "treatment left out": (f"fit good.csv good.csv --exclude drug {FIT}", ["'drug'", "role", "--exclude"]),
    "covariates to use and to leave out": (
        f"fit good.csv good.csv --covariates sex --exclude age {FIT}",
        ["--covariates sex and --exclude age", "or those to leave out"],
    ),
    "covariate named twice": (f"fit good.csv good.csv --covariates sex,sex {FIT}", ["'sex'", "twice"]),
    "no shared columns": (f"fit good.csv unshared.csv {FIT}", ["sex, age", "gender, years", "--covariates ''"]),
    "gaps in a covariate": (f"fit gaps.csv good.csv {FIT}", ["'sex'", "1 rows", "--missing", "--exclude"]),
    "nothing left": (f"fit blank.csv --covariates sex --missing drop {FIT}", ["experimental", "no rows with"]),
    "unknown way with gaps": (f"fit gaps.csv good.csv --missing fill {FIT}", ["--missing", "'fill'"]),
    # numbers
    "negative weight": (f"fit negative.csv {WEIGHED} {FIT}", ["'w'", "holds -2", "zero or more"]),
    "weight left blank": (f"fit unweighed.csv {WEIGHED} {FIT}", ["'w'", "no number in 16 rows"]),
    "weight not a number": (f"fit not_a_number.csv {WEIGHED} {FIT}", ["'w'", "no number in 32 rows"]),
    "weight in words": (f"fit heavy.csv {WEIGHED} {FIT}", ["'w'", "'heavy'", "expected numbers"]),
    "weights of zero": (f"fit weightless.csv {WEIGHED} {FIT}", ["experimental", "weight zero"]),
    "weight that is nowhere": (f"fit people.csv --covariates sex --weight ww {FIT}", ["'ww'", "Did you mean 'w'?"]),
    "weight is treatment": (f"fit people.csv --weight drug {FIT}", ["treatment and weight", "'drug'"]),
    "two kinds of weight": (
        f"fit people.csv {WEIGHED} --survey-weight p {FIT}",
        ["--weight w and --survey-weight p", "expected one of them"],
    ),
    "negative survey weight": (
        f"fit negative.csv --covariates sex --survey-weight w {FIT}",
        ["survey weight column 'w'", "holds -2", "zero or more"],
    ),
    "survey weight left blank": (
        "check unweighed.csv --covariates sex --survey-weight w --treatment drug --outcome well",
        ["'w'", "no number in 16 rows"],
    ),
    "cluster that is nowhere": (f"fit people.csv --cluster ww {FIT}", ["'ww'", "Did you mean 'w'?"]),
    "cluster is outcome": (f"fit people.csv --cluster well {FIT}", ["outcome and cluster", "'well'"]),
    "cluster is covariate": (f"fit people.csv --covariates sex,w --cluster w {FIT}", ["'w'", "covariate too"]),
    "weight is covariate": (f"fit people.csv --covariates sex,w --weight w {FIT}", ["'w'", "covariate too"]),
    "sure assignment": (f"fit certain.csv {CHANCES} {FIT}", ["'p'", "holds 1", "below 1"]),
    "impossible assignment": (f"fit impossible.csv {CHANCES} {FIT}", ["'p'", "holds 1.5"]),
    "assignment left blank": (f"fit unassigned.csv {CHANCES} {FIT}", ["'p'", "no number in 32 rows"]),
    "assignment that is nowhere": (f"fit people.csv --covariates sex --assignment pp {FIT}", ["'pp'"]),
    "bands of no covariate": (f"fit people.csv --covariates sex --bands cmm=3 {FIT}", ["'cmm'", "not a covariate"]),
    "bands of words": (f"fit tall.csv --covariates cm --bands cm=3 {FIT}", ["'cm'", "'tall'", "expected numbers"]),
    "bands of dates": (f"fit nested.parquet --covariates visit --bands visit=2 {FIT}", ["'visit'", "Date"]),
    "number outside its bands": (f"fit people.csv --covariates cm --bands cm=150,200 {FIT}", ["213", "150 to 200"]),
    "edges out of order": (f"fit people.csv --covariates cm --bands cm=200,150 {FIT}", ["200, 150", "above"]),
    "one band": (f"fit people.csv --covariates cm --bands cm=1 {FIT}", ["1 bands", "between 2 and 100"]),
    "bands without numbers": (f"fit people.csv --covariates cm --bands cm {FIT}", ["--bands", "'cm'"]),
    "bands with a word": (f"fit people.csv --covariates cm --bands cm=a,b {FIT}", ["--bands", "'cm=a,b'"]),
    "bands given twice": (f"fit people.csv --covariates cm --bands cm=3 --bands cm=4 {FIT}", ["'cm'", "twice"]),
    "quantiles of one number": (f"fit same.csv --covariates cm --bands cm=3 {FIT}", ["'cm'", "share the number 170"]),
    "quantiles of nothing": (f"fit unmeasured.csv --covariates cm --bands cm=3 {FIT}", ["'cm'", "no number at all"]),
    "quantiles without end": (f"fit endless.csv --covariates cm --bands cm=3 {FIT}", ["'cm'", "infinite"]),
    "merging below one row": (f"fit people.csv --covariates sex --merge-rare 0 {FIT}", ["--merge-rare", "0"]),
    "merging in words": (f"fit people.csv --covariates sex --merge-rare few {FIT}", ["--merge-rare", "integer"]),
    "population without profiles": (f"fit good.csv --population pooled {FIT}", ["'pooled'", "--mix profiles"]),
    "mix of a network": (f"fit good.csv --mix profiles {FIT} --model mask-mlp", ["--mix", "mask-mlp"]),
    "rows to train on, of a plug-in": (f"fit good.csv --min-rows 100 {FIT}", ["--min-rows", "mask-mlp", "plug-in"]),
    "rows to train on, in words": (f"fit good.csv --min-rows few {FIT} --model mask-mlp", ["--min-rows", "'few'"]),
    "rows called a threshold": (f"fit good.csv --threshold 100 {FIT} --model mask-mlp", ["--threshold"]),
    # databases
    "database without a table": (f"fit sqlite:///trial.db {FIT}", ["sqlite:///trial.db", "URL::TABLE"]),
    "database that is not there": (f"fit sqlite:///none.db::people {FIT}", ["none.db", "no file"]),
    "database that is none": (f"fit sqlite:///good.csv::people {FIT}", ["experimental", "cannot be read"]),
    "database in memory": (f"fit 'sqlite://::SELECT 1' {FIT}", ["'sqlite://' names no file", "sqlite:///FILE"]),
    "unknown table": (f"fit sqlite:///trial.db::peple {FIT}", ["'peple'", "Did you mean 'people'?"]),
    "wrong SQL": (f"fit 'sqlite:///trial.db::SELECT * FRM people' {FIT}", ["the database says", "syntax error"]),
    "SQL with a column twice": (
        f"fit 'sqlite:///trial.db::SELECT sex, sex, drug, well FROM people' {FIT}",
        ["more than one column called 'sex'"],
    ),
    "SQL of words for numbers": (
        f"fit sqlite:///trial.db::people --bands age=2 {FIT}",
        ["'age'", "'old'", "expected numbers"],
    ),
    "unknown kind of database": (f"fit oracle9i://me:secret@host/base::people {FIT}", ["oracle9i://me:***@host"]),
    "URL in place of a model": ("query postgresql://me:a@hush@host/base::people", ["postgresql:/me:***@host/base"]),
    "database without its driver": (f"fit mysql+pymysql://me:secret@host/base::people {FIT}", ["pymysql", "***"]),
    "URL that is none": (f"fit postgresql://host:port/base::people {FIT}", ["postgresql://host", "URL"]),
    "treated value absent": (f"fit good.csv good.csv --treated yes {FIT}", ["'yes'", "0 (16 rows), 1 (16 rows)"]),
    "option left out": ("fit good.csv good.csv --outcome well --out new", ["--treatment"]),
    # populations
    "unknown population": ("oracle mediatr", ["'mediatr'", "Did you mean 'mediator'?"]),
    "unknown population to simulate": ("simulate tree:x --out new", ["'tree:x'", "kind:seed"]),
    "no rows to simulate": ("simulate mediator --experimental 0 --out new", ["--experimental", "0"]),
    "too many rows to simulate": (
        "simulate mediator --experimental 1000000000000000 --out new",
        ["1,000,000,000,000,000 experimental", "at most 100,000,000"],
    ),
    "more rows than there is room for": (
        f"simulate mediator --experimental {10**20} --out new",
        ["100,000,000,000,000,000,000 experimental", "at most"],
    ),
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
    "number outside the bands": ("query banded cm=90", ["'cm'", "90", "150 to 250"]),
    "word for a band": ("query banded cm=tall", ["'cm'", "'tall'", "150-179, 180-250", "number"]),
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
    # payoffs, assumptions, refinement
    "benefit without payoffs": (
        "query model --quantity benefit",
        ["benefit needs payoffs", "--payoffs 100,-60"],
    ),
    "huge payoffs": ("query model --payoffs 1e200,0,0,-1", ["1e+200", "no larger than 1e+12"]),
    "three payoffs": ("query model --quantity benefit --payoffs 1,2,3", ["[1.0, 2.0, 3.0]", "four numbers"]),
    "payoffs in words": ("query model --quantity benefit --payoffs a,b,c,d", ["--payoffs", "'a,b,c,d'"]),
    "payoffs without benefit": ("query model --quantity pns --payoffs 1,2,3,4", ["pns has none", "--quantity benefit"]),
    "oracle's benefit without payoffs": ("oracle mediator --quantity benefit", ["benefit needs payoffs"]),
    "two tables, but only one kind": (
        f"fit good.csv good.csv {FIT} --observational-only",
        ["two tables", "'good.csv'", "--observational-only"],
    ),
    "no experiment for the default model": (
        f"fit good.csv {FIT.replace('--model plug-in', '')} --observational-only",
        ["no experimental table", "--model plug-in"],
    ),
    "fitting for a benefit": (f"fit good.csv good.csv {FIT} --quantity benefit", ["when asking", "--payoffs"]),
    "unknown assumption": ("query model --assume monoton", ["'monoton'", "Did you mean 'monotone'?"]),
    "choice in a trial alone": ("query trial --assume exogenous", ["'exogenous'", "an experiment alone"]),
    "unknown refinement": ("query model --refine all", ["--refine", "'all'"]),
    # models
    "no model": ("query nowhere", ["'nowhere'", "pnsight fit --out"]),
    "model of too long a name": (f"query {'long' * 75}", ["longlong", "cannot be read", "name too long"]),
    "results of too long a name": (f"bench show --results {'long' * 75}", ["longlong", "name too long"]),
    "file for a model": ("query good.csv", ["'good.csv'", "pnsight fit --out"]),
    "folder that is not a model": ("query empty_folder", ["'empty_folder'", "no model.json"]),
    "model of another program": ("query foreign", ["'foreign'", "not pnsight's"]),
    "model description cut short": ("query cut", ["'cut'", "model.json"]),
    "model description lacking a part": ("query lacking", ["lacking", "study is missing"]),
    "model description damaged": ("query damaged", ["'damaged'", "digest", "fit the model again"]),
    "model of a later format": ("query later", ["'later'", "format 99", "fit the model again"]),
    "model of the first format": (
        "query first",
        ["'first'", "format 1", f"reads format {FORMAT_VERSION}", "fit the model again"],
    ),
    "model without arrays": ("query arrayless", ["arrayless", "cannot be read"]),
    "model arrays cut short": ("query short", ["short", "is damaged", "not those that were written"]),
    # options
    "unknown quantity": ("query model --quantity pxs", ["--quantity", "'pxs'"]),
    "unknown format": ("query model --format xlsx", ["--format", "'xlsx'"]),
    "unknown space": ("query model --space all", ["--space", "'all'"]),
    "unknown model": (f"fit good.csv good.csv {FIT} --model forest", ["--model", "'forest'"]),
    "unknown option": ("query model --colour red", ["--colour"]),
    "unknown command": ("querry model", ["querry"]),
    "level beyond one": ("query model --level 2", ["--level", "2"]),
    "level of nothing": ("query model --level 0", ["--level", "between 0 and 1"]),
    "level of nothing, cautiously": ("select model --budget 0.1 --cautious --level 0", ["--level", "between 0 and 1"]),
    # decisions
    "threshold that is no number": ("decide model --threshold nan", ["threshold", "nan"]),
    "words in a format": ("decide model --words --format csv", ["--words", "--format csv"]),
    "decide query and space": ("decide model sex=Male --space exact", ["queries and --space", "use one"]),
    "decide for another population": ("decide model --population pooled", ["'pooled'", "plug-in", "--population"]),
    "ask about an unknown level": ("ask model sex=Femal", ["'Femal'", "Did you mean 'Female'?"]),
    "ask two ways": ("ask model --levels --without", ["--levels and --without"]),
    "rank by something else": ("rank model --by mean", ["--by", "'mean'"]),
    "rank none": ("rank model --top 0", ["--top", "0"]),
    "share beyond one": ("rank model --least-share 2", ["--least-share", "2"]),
    "no budget": ("select model", ["--budget"]),
    "budget of people without people": ("select model --budget 100", ["100", "--people"]),
    "cost without people": ("select model --budget 0.1 --cost 3", ["--people"]),
    "cost of nothing": ("select model --budget 10 --people 100 --cost 0", ["cost is 0", "above 0"]),
    "cost without payoffs": ("decide model --cost 3", ["--cost 3", "--payoffs", "--threshold"]),
    "cost and threshold": (
        "decide model --payoffs 1,2,3,4 --cost 3 --threshold 2",
        ["--threshold 2", "--cost 3", "use one"],
    ),
    "cost in words": ("decide model --payoffs 1,2,3,4 --cost much", ["--cost", "number"]),
    "budget spent for harm": ("select model --budget 0.1 --quantity harm", ["harm", "pns, benefit"]),
    # outputs
    "title of bytes": ("report model --title '\udce9' --out new", ["'\\udce9'", "not in UTF-8"]),
    "answer in a format that is none": ("query model --out answer.xlsx", ["answer.xlsx", ".csv, .json, .parquet"]),
    "oracle's answer in a format that is none": ("oracle direct --out a.tsv", ["a.tsv", "'.tsv'", "--format"]),
    "answer into a file of too long a name": (f"query model --out {'long' * 75}", ["longlong", "name too long"]),
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
    "model below a device": (
        "fit good.csv good.csv --treatment drug --outcome well --model plug-in --out /dev/null/model",
        ["/dev/null/model", "no folder"],
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


def test_too_little_memory_is_told(workshop, attempt, monkeypatch):
    def too_large(*_, **__):
        raise MemoryError

    monkeypatch.chdir(workshop)
    monkeypatch.setattr(pnsight.PlugIn, "bounds", too_large)
    ended = attempt("query", "model")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "pnsight: there is not enough memory for this; ask for less at once.\n"


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
