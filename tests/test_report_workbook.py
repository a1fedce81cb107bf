"""The report's tables."""

from aspectra.report.content import Content
from aspectra.report.workbook import tables


def test_the_tables_hold_what_the_pictures_show(content: Content) -> None:
    made = tables(content)
    assert made["shares"].frame()["share of segments"].to_list() == [share.share for share in content.shares]
    assert content.trend is not None
    assert len(made["trend"].rows) == len(content.trend.names) * len(content.aspects)
    assert content.quality.grade is not None
    counts = [sum(row[1:]) for row in made["confusion"].rows]
    assert sum(counts) == content.quality.grade.scores.n
