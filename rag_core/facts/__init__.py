"""Facts of a sentence, and how two sentences differ in them.

Word overlap passes a sentence in which one number or one "not" was changed; these comparisons do not. They know no
model: a fact that is stated in other words, or follows by calculation, counts as lacking.
"""

from rag_core.facts.differences.compare import absent_facts, changed_facts, entities, replaced_facts
from rag_core.facts.sentence.names import Entity

__all__ = ["Entity", "absent_facts", "changed_facts", "entities", "replaced_facts"]
