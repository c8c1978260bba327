// dom: elements made of text, and a tree brought up to date in place. Whatever the cluster says is
// text here: nothing is ever parsed as markup, and what a terminal or a bidirectional text would
// obey is shown by its number: \x1b.

const SVG = 'http://www.w3.org/2000/svg';

export function clean(text) {
  return String(text ?? '').replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (c) => {
      const code = c.charCodeAt(0).toString(16);
      return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
    });
}

function fill(el, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'href' && !String(value).startsWith('#')) continue;
    el.setAttribute(name, value === true ? '' : clean(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    el.append(child instanceof Node ? child : document.createTextNode(clean(child)));
  }
  return el;
}

export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function svg(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

// What the reader has opened, typed or scrolled is his.
const OWN = new Set(['open', 'value', 'style']);

function morphAttributes(old, fresh) {
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && !OWN.has(name)) old.removeAttribute(name);
  for (const { name, value } of [...fresh.attributes])
    if (old.getAttribute(name) !== value && !(OWN.has(name) && old.hasAttribute(name)))
      old.setAttribute(name, value);
}

function morphChildren(old, fresh) {
  const keyed = new Map();
  for (const child of old.children) if (child.dataset.key) keyed.set(child.dataset.key, child);
  let at = old.firstChild;
  for (const want of [...fresh.childNodes]) {
    const key = want.dataset?.key;
    const have = key ? keyed.get(key) : at?.dataset?.key ? null : at;
    if (!have) {
      old.insertBefore(want, at);
      continue;
    }
    if (have === at) at = at.nextSibling;
    else old.insertBefore(have, at);
    morph(have, want);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// Make the tree at `old` look like `fresh`, which is used up. Focus and scrolling stay where they
// are. What has data-keep has children of its own.
export function morph(old, fresh) {
  if (old.nodeName !== fresh.nodeName || old.dataset?.key !== fresh.dataset?.key) {
    old.replaceWith(fresh);
  } else if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
  } else {
    morphAttributes(old, fresh);
    if (!old.hasAttribute('data-keep')) morphChildren(old, fresh);
  }
}

// Replace the children of `el`.
export function show(el, ...children) {
  const fresh = el.cloneNode(false);
  fill(fresh, null, children);
  morphChildren(el, fresh);
}
