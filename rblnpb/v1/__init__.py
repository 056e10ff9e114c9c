"""Generated from proto/ by scripts/regen_proto.py; imported by rblnpb.codec alone."""
