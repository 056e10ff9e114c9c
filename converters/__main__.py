"""python -m rblnpb.converters: the same as the command rblnpb."""

from rblnpb.converters.cli import main

raise SystemExit(main())
