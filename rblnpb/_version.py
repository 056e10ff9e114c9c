"""The version of the package; the version of the schema stands in `rblnpb.container`."""

__version__ = "0.1.0"
