"""The same table gives the same domains, counts and released rows, whatever holds it."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import cells
from hypothesis import given
from hypothesis import strategies as st

from trechter.alphabet import Attribute, Bin
from trechter.tables import OutputColumn, Table, open_table
