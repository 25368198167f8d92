"""Measures each question of a labelled set once, and compares outcomes with labels under any settings."""

from rag_core.evaluation.labelled import LabelledQuestion as LabelledQuestion
from rag_core.evaluation.labelled_files import read_labelled as read_labelled
from rag_core.evaluation.report import BREAKDOWNS as BREAKDOWNS
from rag_core.evaluation.report import Marks as Marks
from rag_core.evaluation.report import Paired as Paired
from rag_core.evaluation.report import Rate as Rate
from rag_core.evaluation.report import Report as Report
from rag_core.evaluation.report import answer_hits as answer_hits
from rag_core.evaluation.report import failing as failing
from rag_core.evaluation.report import judged_under as judged_under
from rag_core.evaluation.report import marks as marks
from rag_core.evaluation.report import paired as paired
from rag_core.evaluation.report import rates as rates
from rag_core.evaluation.report import report as report
from rag_core.evaluation.run import QUESTIONS as QUESTIONS
from rag_core.evaluation.run import Ran as Ran
from rag_core.evaluation.run import Results as Results
from rag_core.evaluation.run import begin as begin
from rag_core.evaluation.run import is_current as is_current
from rag_core.evaluation.run import run as run
from rag_core.evaluation.run import with_model as with_model
