"""What is wrong with a trace or a profile as it stands, and what viewers would drop, move or round of it.

Every rule works on whole columns, gives each kind of fault one code, and names the first few places. Severities follow
`rblnpb.errors.Severity`: an error where numbers are wrong or much is missing, a warning where numbers are bounds or a viewer leaves
something out, an info where it is curious and harmless.
"""
