"""What costs time that nobody wrote, with a line of advice each."""
