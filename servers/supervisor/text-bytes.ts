/** What a text takes in memory: V8 holds one byte a character as long as all are of Latin-1, else two. */
export const textBytes = (text: string): number => (beyondLatin1.test(text) ? 2 * text.length : text.length);

const beyondLatin1 = /[^\0-\xff]/;
