"""The converters: host traces and device profiles in, traces, tables and reports out."""

if __name__ != "rblnpb.converters":
    raise ImportError("import rblnpb.converters instead: `converters` is its source folder, not a package of its own")
