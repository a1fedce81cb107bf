"""What the paper publishes (Shi, Li, Wang, Reddy, AAAI 2021): Tables 3 and 4 and ablations, F1 in percent.

Citysearch has weighted F1 over Food, Staff and Ambience; the product sets have micro F1 over nine classes.
"""

from __future__ import annotations

SETS = ("citysearch", "bags", "bluetooth", "boots", "keyboards", "tv", "vacuums")


def row(*values: float | None) -> dict[str, float]:
    return {name: value for name, value in zip(SETS, values, strict=True) if value is not None}


TEACHER, STUDENTS = "SSCL", ("SSCLS-BERT", "SSCLS-DistilBERT")
TABLES: dict[str, dict[str, float]] = {
    "SERBM": row(79.5, None, None, None, None, None, None),
    "W2VLDA": row(75.8, None, None, None, None, None, None),
    "AE-CSA": row(85.8, None, None, None, None, None, None),
    "CAt": row(86.4, None, None, None, None, None, None),
    "ABAE": row(79.6, 38.1, 37.6, 35.2, 38.6, 39.5, 38.1),
    "ABAE + HRSMap": row(86.0, 54.9, 62.2, 54.7, 58.9, 59.9, 54.1),
    "ABAE-init": row(None, 41.6, 48.5, 41.2, 41.3, 45.7, 40.6),
    "MATE": row(None, 46.2, 52.2, 45.6, 43.5, 48.8, 42.3),
    "MATE-MT": row(None, 48.6, 54.5, 46.4, 45.3, 51.8, 47.7),
    "TS-Teacher": row(None, 55.1, 50.1, 44.5, 52.0, 56.8, 54.5),
    "TS-Stu-W2V": row(None, 59.3, 66.8, 48.3, 57.0, 64.0, 57.0),
    "TS-Stu-BERT": row(None, 61.4, 66.5, 52.0, 57.5, 63.0, 60.4),
    "SSCL": row(88.6, 61.0, 65.2, 57.3, 60.6, 64.6, 57.2),
    "SSCLS-BERT": row(89.4, 65.5, 69.5, 60.4, 62.3, 67.0, 61.0),
    "SSCLS-DistilBERT": row(90.1, 64.7, 68.4, 61.0, 62.0, 66.3, 59.9),
}
SUPERVISION = {
    "CAt": "names",
    "W2VLDA": "seed words",
    "SERBM": "word lists",
    **dict.fromkeys(
        ("AE-CSA", "ABAE", "ABAE + HRSMap", "SSCL", "SSCLS-BERT", "SSCLS-DistilBERT"), "map by hand"
    ),
    **dict.fromkeys(
        ("ABAE-init", "MATE", "MATE-MT", "TS-Teacher", "TS-Stu-W2V", "TS-Stu-BERT"), "seed words"
    ),
}
"""What each is told of the aspects, where we know it."""
OVERALL = "overall"


def triples(*values: float) -> dict[str, tuple[float, float, float]]:
    """Group precision, recall and F1 by aspect; the last three are the weighted means."""
    names = ("Food", "Staff", "Ambience", OVERALL)
    found = zip(values[::3], values[1::3], values[2::3], strict=True)
    return dict(zip(names, found, strict=True))


CITYSEARCH_ASPECTS = {
    "SERBM": triples(89.1, 85.4, 87.2, 81.9, 58.2, 68.0, 80.5, 59.2, 68.2, 86.0, 74.6, 79.5),
    "ABAE": triples(95.3, 74.1, 82.8, 80.2, 72.8, 75.7, 81.5, 69.8, 74.0, 89.4, 73.0, 79.6),
    "W2VLDA": triples(96.0, 69.0, 81.0, 61.0, 86.0, 71.0, 55.0, 75.0, 64.0, 80.8, 70.0, 75.8),
    "AE-CSA": triples(90.3, 92.6, 91.4, 92.6, 75.6, 77.3, 91.4, 77.9, 77.0, 85.6, 86.0, 85.8),
    "CAt": triples(91.8, 92.4, 92.1, 82.4, 75.6, 78.8, 76.6, 80.1, 76.6, 86.5, 86.4, 86.4),
    "ABAE + HRSMap": triples(93.0, 88.8, 90.9, 85.8, 75.3, 80.2, 67.4, 89.6, 76.9, 87.0, 85.8, 86.0),
    "SSCL": triples(91.7, 94.6, 93.1, 88.4, 75.9, 81.7, 79.1, 86.1, 82.4, 88.8, 88.7, 88.6),
    "SSCLS-BERT": triples(89.6, 97.3, 93.3, 95.5, 71.9, 82.0, 84.0, 87.6, 85.8, 90.0, 89.7, 89.4),
    "SSCLS-DistilBERT": triples(91.3, 96.6, 93.9, 92.4, 75.9, 83.3, 84.4, 88.0, 86.2, 90.4, 90.3, 90.1),
}
ABLATIONS: dict[str, dict[str, dict[str, float]]] = {
    "attention": {
        "smooth": row(88.6, 61.0, 65.2, 57.3, 60.6, 64.6, 57.2),
        "regular": row(85.7, 55.9, 62.3, 52.9, 59.5, 59.5, 53.9),
        "mean": row(87.0, 61.6, 65.5, 52.7, 60.5, 64.0, 56.0),
    },
    "lambda": {
        "0.5": row(88.6, 61.0, 65.2, 57.3, 60.6, 64.6, 57.2),
        "1": row(87.5, 61.6, 65.1, 58.3, 61.8, 66.4, 55.6),
        "2": row(86.6, 60.7, 63.9, 57.3, 59.8, 67.0, 55.0),
        "3": row(86.7, 61.8, 64.6, 57.6, 59.9, 63.0, 55.3),
        "4": row(83.4, 58.2, 64.2, 54.0, 59.9, 64.3, 56.1),
        "5": row(86.1, 57.4, 63.0, 54.2, 59.3, 66.4, 54.9),
    },
    "batch": {
        "10": row(87.3, None, None, None, None, None, None),
        "20": row(88.5, 60.2, 66.9, 56.0, 60.4, 66.7, 56.3),
        "50": row(88.6, 61.0, 65.2, 57.3, 60.6, 64.6, 57.2),
        "100": row(88.2, 61.8, 66.0, 55.8, 61.4, 63.4, 57.4),
        "200": row(88.9, 59.4, 64.6, 56.3, 60.8, 64.6, 56.6),
    },
}
