/** Fields of the API's own bodies that carry a secret. */
const secretName = /token|refresh|pass|secret|^code$/i;
const dots = "••••••";

/** A JSON body with its secrets covered, and whether there was any; other text as it is. */
export function coveredJson(text: string): { readonly text: string; readonly covered: boolean } {
  let covered = false;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { text, covered };
  }
  const shown = JSON.stringify(value, (name, inner: unknown) => {
    if (typeof inner !== "string" || inner === "" || !secretName.test(name)) return inner;
    covered = true;
    // The beginning tells what kind of text it is, and is the same for every token.
    return inner.startsWith("eyJ") ? `eyJ${dots}` : dots;
  });
  return covered ? { text: shown, covered } : { text, covered };
}
