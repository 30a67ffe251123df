"""The words of a `trechter publish`, as a list."""


def asked(table, out, schema, **changes):
    options = {"secret": "ill", "release": "work", "epsilon": "0.5", "out": out, "schema": schema}
    options |= {name.replace("_", ""): value for name, value in changes.items()}
    return ["publish", table, *(part for key, value in options.items() if value is not None for part in (f"--{key}", value))]
