"""Names of variables that break careless formats: separators, quotes, escapes, markup, controls."""

from __future__ import annotations

BLANK = ("", " ", "\t", "\n", "\u00a0")

HOSTILE = (
    *("A", "blood pressure", " leading", "trailing ", "tab\there", "line\nbreak", "cr\rhere"),
    *("crlf\r\nx", 'double "quotes"', '"', '""', "'single'", "`tick`", "back\\slash", "\\", "\\\\"),
    *('\\"', "end\\", "\\n", "a\\\nb", "<script>alert(1)</script>", "<!DOCTYPE x>", "&amp;"),
    *("&#65;", "%s", "{0}", "$x", "=1+1", "naïve", "变量", "🜚", "e\u0301", "\u202etxet", "\u2028x"),
    *("a\u2028b", "x\x85y", "\ufeffbom", "1", "0", "-1", "1.5", "1e5", "NaN", "None", "true"),
    *("a,b", "a;b", "a:b", "a|b", "[a]", "(a)", "{a}", "a->b", "a -- b", "-->", "---", "a~b"),
    *("a+b", "a*b", "#c", "!c", "//c", "/*c*/", "node", "graph", "digraph", "subgraph", "strict"),
    *("edge", "Graph Nodes:", "Graph Edges:", "1. A", "source", "target", "TRUE", "if", ".5x"),
    *("..", "_x", "null\0here", "\x01", "\x7f", "x" * 10_000, "dag", "pdag", "label", "id", "kind"),
    *("[]", "()", "{}", "[1]"),
)
