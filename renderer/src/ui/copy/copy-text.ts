import { announce } from "../status/announcer.tsx";

/** Resolves when the text is on the clipboard. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Where the shell denies the clipboard permission, the browser still copies a selection on a key or click.
    copySelection(text);
  }
  announce("Copied");
}

function copySelection(text: string): void {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!copied) throw new Error("The browser refused access to the clipboard.");
}
