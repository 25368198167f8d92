// Keyboard and screen reader on the Ask page: a link to the question before everything else, focus on a result, and its words told.
// All text is put in as text. Nothing is asked of any address.
window.plumbline ??= (() => {
  const BOX = '.st-key-question textarea', CARD = ['.st-key-answer', '.st-key-refusal', '.st-key-reply', '.st-key-in_decide'].join(', ');
  const ANSWER = '.st-key-answer_text, .st-key-quote_place, .st-key-refusal_why, .st-key-reply [data-testid="stText"]', SURE = '.st-key-how_sure_line';
  const ASKS = ['.st-key-examples', '[class*="st-key-show_turn_"]'].map((where) => `${where} button`).join(', '); // buttons that ask a question
  const find = (where) => document.querySelector(where);
  // The words that are there, without those of the last run that wait to be taken away.
  const words = (where) => {
    const at = find(where), parts = [...(at?.querySelectorAll('[data-testid="stElementContainer"]') ?? [])];
    const said = parts.length ? parts.filter((part) => part.dataset.stale !== 'true').map((part) => part.innerText).join(' ') : at?.innerText;
    return said?.replace(/\s+/g, ' ').trim() ?? '';
  };

  const link = document.createElement('button');
  link.className = 'plumbline-skip';
  link.onclick = () => find(BOX)?.focus();
  const told = document.createElement('div');
  told.className = 'plumbline-told';
  told.setAttribute('role', 'status');
  document.body.prepend(link, told);

  let shown = null, decided = null, held = null, looking = null;

  // What was told goes with the result: on another page, or after the end of a visit, nobody may come upon its words.
  new MutationObserver(() => {
    looking ??= setTimeout(() => {
      looking = null;
      if (told.textContent && !find(CARD)) told.textContent = '';
    }, 500); // milliseconds: a result that is drawn anew is back by then
  }).observe(document.body, {childList: true, subtree: true});

  // Focus goes where it was waited for: not from a question that is being typed, nor from a field that was gone to meanwhile.
  const waiting = () => {
    const at = document.activeElement;
    return !at || at === document.body || (at.matches(BOX) ? !at.value : at.matches(ASKS));
  };

  // A card that is in view stays where it is; else it begins near the top, below its question.
  const bring = (card) => {
    if (!card) return;
    const {top, bottom} = card.getBoundingClientRect(), end = find('.st-key-ask')?.getBoundingClientRect().top ?? innerHeight;
    if (top === Math.max(top, 0) && bottom === Math.min(bottom, end)) return;
    card.scrollIntoView();
  };
  const go = (card) => { card?.focus({preventScroll: true}); bring(card); };
  // The mark of a source leads to its card; the address stays, for it names the question.
  document.addEventListener('click', (click) => {
    const mark = click.target.closest?.('a[href^="#source-"]'), card = mark && find(`.st-key-citation_${mark.hash.slice('#source-'.length)}`);
    if (!card) return;
    click.preventDefault();
    card.tabIndex = -1;
    go(card);
  });
  // What is drawn above it later may push it out of sight again, until its reader moves the page.
  let moved = 0;
  for (const kind of ['wheel', 'touchmove', 'keydown', 'pointerdown']) addEventListener(kind, () => { moved += 1; }, {passive: true});
  const stay = (card, since = moved) => [300, 1000, 2500, 5000, 10000].forEach((wait) => setTimeout(() => { // milliseconds
    if (moved === since && card.isConnected && document.activeElement === card) bring(card);
  }, wait));

  // What a button opens is drawn at the end of the page: Tab goes into it from its button, and out of it to what follows the button.
  // A download takes the focus from its button; then Streamlit takes all others there out of the order too (`data-tabindex`), and Tab returns.
  document.addEventListener('keydown', (key) => {
    const opened = find('[data-testid="stPopoverBody"]'), opener = find('[data-testid="stPopoverButton"][aria-expanded="true"]');
    if (key.key !== 'Tab' || key.altKey || key.ctrlKey || key.metaKey || !opened || !opener) return;
    const inside = [...opened.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter(
      (one) => !one.disabled && (one.tabIndex >= 0 || (one.dataset.tabindex ?? '-1') !== '-1') && one.checkVisibility());
    const at = document.activeElement, end = key.shiftKey ? inside[0] : inside.at(-1);
    if ((at === opener || at === document.body) && !key.shiftKey && inside.length) { key.preventDefault(); inside[0].focus(); }
    if (at === end) { opener.focus(); if (key.shiftKey) key.preventDefault(); } // forwards the browser goes on from the button
  });

  return {
    begin: (words) => { link.textContent = words; },
    arrived: (number, decision, how) => requestAnimationFrame(() => {
      const card = find(CARD);
      if (!card || (number === shown && decision === decided)) return;
      const again = number === shown;
      [shown, decided] = [number, decision];
      told.textContent = (again ? [words('.st-key-change'), words(SURE)] : [card.matches('.st-key-reply') ? '' : how, words(ANSWER), words(SURE)]).filter(Boolean).join(' ');
      card.tabIndex = -1;
      if (again ? held && !held.isConnected && document.activeElement === document.body : waiting()) { go(held = card); stay(card); }
    }),
  };
})();
