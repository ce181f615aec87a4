import type { Json } from '../../domain/json.ts';

/** A text as HTML shows it. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function paragraph(text: string): string {
  const [first = '', ...items] = text.split(/\n- /);
  const list = items.map((item) => `<li>${item}</li>`).join('');
  // A list without words before it begins with its own mark.
  const bare = first.startsWith('- ') ? `<ul><li>${first.slice(2)}</li>${list}</ul>` : undefined;
  return bare ?? `<p>${first}</p>` + (list && `<ul>${list}</ul>`);
}

/** A description as HTML. Of Markdown it may have code between backticks, lists with dashes and paragraphs. */
export function prose(text: Json | undefined): string {
  return typeof text === 'string'
    ? text
        .split('\n\n')
        .map((part) => paragraph(inline(part)))
        .join('')
    : '';
}

/** A description of one paragraph, without its tags. */
export function inline(text: string): string {
  // Code may hold backslashes and what else Markdown gives a meaning.
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** A value as an indented block. */
export function codeBlock(value: Json | object): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return `<pre><code>${escapeHtml(text)}</code></pre>`;
}
