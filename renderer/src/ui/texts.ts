/** Words that depend on a number or a state, in one place. */
const plural = new Intl.PluralRules("en");

export interface Noun {
  readonly one: string;
  readonly many: string;
}

/** A noun; without its own plural it takes an s. */
export const nounOf = (one: string, many = `${one}s`): Noun => ({ one, many });

/** The form of a word that goes with a number: `pluralOf(2, "ends", "end")` is "end". */
export const pluralOf = (count: number, one: string, many: string): string => (plural.select(count) === "one" ? one : many);

/** "Requests": at the start of a label. */
export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
