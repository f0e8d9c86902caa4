// Elements of the page. Text is set as text, never as markup.

type Child = Node | string;

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

export function optional<T extends HTMLElement>(id: string): T | null {
  return document.getElementById(id) as T | null;
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A name apart from the text around it, whichever way its letters run.
export function nameElement(name: string): HTMLElement {
  return element("bdi", {}, name);
}

export function quietButton(action: () => void, ...children: Child[]): HTMLButtonElement {
  const button = element("button", { type: "button", class: "quiet" }, ...children);
  button.addEventListener("click", action);
  return button;
}
