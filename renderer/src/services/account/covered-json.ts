/** Fields of the API's own bodies that carry a secret. */
const secretName = /token|refresh|pass|secret|^code$/i;
const dots = "••••••";

/** A JSON body with its secrets masked, and whether there was any; other text as it is, and so is JSON that nests too deep to be walked. */
export function coveredJson(text: string): { readonly text: string; readonly covered: boolean } {
  let covered = false;
  try {
    const shown = JSON.stringify(JSON.parse(text), (name, inner: unknown) => {
      if (typeof inner !== "string" || inner === "" || !secretName.test(name)) return inner;
      covered = true;
      // The beginning says what kind of text it is, and is the same for every token.
      return inner.startsWith("eyJ") ? `eyJ${dots}` : dots;
    });
    return covered ? { text: shown, covered } : { text, covered };
  } catch {
    return { text, covered: false };
  }
}
