"""What people read: the steward's page and the readers' codebook. No mathematics here; it shows what others computed."""
