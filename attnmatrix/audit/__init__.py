"""Reads what an engine release declares of its attention backends, and compares.

`tree` opens a wheel or folder, `lazy` and `standins` run the few statements that matter in a child
process (`child`), `static` reads the same by syntax alone and `reading` keeps what both agree on;
`differences`, `history` and `draft` are what commands make of a reading. Standard library alone.
"""
