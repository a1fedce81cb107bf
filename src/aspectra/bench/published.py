"""What the paper publishes (Shi, Li, Wang, Reddy, AAAI 2021): Tables 3 and 4 and ablations, F1 in percent.

Citysearch has weighted F1 over Food, Staff and Ambience; the product sets have micro F1 over nine classes.
"""

from __future__ import annotations

SETS = ("citysearch", "bags", "bluetooth", "boots", "tv")


def row(*values: float | None) -> dict[str, float]:
    return {name: value for name, value in zip(SETS, values, strict=True) if value is not None}


TEACHER, STUDENTS = "SSCL", ("SSCLS-BERT", "SSCLS-DistilBERT")
TABLES: dict[str, dict[str, float]] = {
    "SERBM": row(79.5, None, None, None, None),
    "W2VLDA": row(75.8, None, None, None, None),
    "AE-CSA": row(85.8, None, None, None, None),
    "CAt": row(86.4, None, None, None, None),
    "ABAE": row(79.6, 38.1, 37.6, 35.2, 39.5),
    "ABAE + HRSMap": row(86.0, 54.9, 62.2, 54.7, 59.9),
    "ABAE-init": row(None, 41.6, 48.5, 41.2, 45.7),
    "MATE": row(None, 46.2, 52.2, 45.6, 48.8),
    "MATE-MT": row(None, 48.6, 54.5, 46.4, 51.8),
    "TS-Teacher": row(None, 55.1, 50.1, 44.5, 56.8),
    "TS-Stu-W2V": row(None, 59.3, 66.8, 48.3, 64.0),
    "TS-Stu-BERT": row(None, 61.4, 66.5, 52.0, 63.0),
    "SSCL": row(88.6, 61.0, 65.2, 57.3, 64.6),
    "SSCLS-BERT": row(89.4, 65.5, 69.5, 60.4, 67.0),
    "SSCLS-DistilBERT": row(90.1, 64.7, 68.4, 61.0, 66.3),
}
SUPERVISION = {
    "CAt": "names",
    "W2VLDA": "seed words",
    **dict.fromkeys(("ABAE", "ABAE + HRSMap", "SSCL", "SSCLS-BERT", "SSCLS-DistilBERT"), "map by hand"),
    **dict.fromkeys(
        ("ABAE-init", "MATE", "MATE-MT", "TS-Teacher", "TS-Stu-W2V", "TS-Stu-BERT"), "seed words"
    ),
}
"""What each is told of the aspects, where we know it."""
CITYSEARCH_ASPECTS: dict[str, dict[str, float]] = {
    "SERBM": {"Ambience": 68.2, "Food": 87.2, "Staff": 68.0},
    "ABAE": {"Ambience": 74.0, "Food": 82.8, "Staff": 75.7},
    "W2VLDA": {"Ambience": 64.0, "Food": 81.0, "Staff": 71.0},
    "AE-CSA": {"Ambience": 77.0, "Food": 91.4, "Staff": 77.3},
    "CAt": {"Ambience": 76.6, "Food": 92.1, "Staff": 78.8},
    "ABAE + HRSMap": {"Ambience": 76.9, "Food": 90.9, "Staff": 80.2},
    "SSCL": {"Ambience": 82.4, "Food": 93.1, "Staff": 81.7},
    "SSCLS-BERT": {"Ambience": 85.8, "Food": 93.3, "Staff": 82.0},
    "SSCLS-DistilBERT": {"Ambience": 86.2, "Food": 93.9, "Staff": 83.3},
}
ABLATIONS: dict[str, dict[str, dict[str, float]]] = {
    "attention": {
        "smooth": row(88.6, 61.0, 65.2, 57.3, 64.6),
        "regular": row(85.7, 55.9, 62.3, 52.9, 59.5),
        "mean": row(87.0, 61.6, 65.5, 52.7, 64.0),
    },
    "lambda": {
        "0.5": row(88.6, 61.0, 65.2, 57.3, 64.6),
        "1": row(87.5, 61.6, 65.1, 58.3, 66.4),
        "2": row(86.6, 60.7, 63.9, 57.3, 67.0),
        "3": row(86.7, 61.8, 64.6, 57.6, 63.0),
        "4": row(83.4, 58.2, 64.2, 54.0, 64.3),
        "5": row(86.1, 57.4, 63.0, 54.2, 66.4),
    },
    "batch": {
        "10": row(87.3, None, None, None, None),
        "20": row(88.5, 60.2, 66.9, 56.0, 66.7),
        "50": row(88.6, 61.0, 65.2, 57.3, 64.6),
        "100": row(88.2, 61.8, 66.0, 55.8, 63.4),
        "200": row(88.9, 59.4, 64.6, 56.3, 64.6),
    },
}
