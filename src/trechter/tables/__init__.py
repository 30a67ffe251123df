"""Tables of any engine as columns and codes: learn domains, count, pass rows through a kernel, write."""

from trechter.tables.count import Counts
from trechter.tables.decode import OutputColumn
from trechter.tables.table import Table, open_table

__all__ = ["Counts", "OutputColumn", "Table", "open_table"]
