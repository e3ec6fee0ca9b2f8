/** The last two minutes by second: times in seconds since the epoch, and of each series the values; null where there was none. */
export type History<Series extends string> = Readonly<Record<Series, readonly (number | null)[]>> & { readonly at: readonly number[] };
