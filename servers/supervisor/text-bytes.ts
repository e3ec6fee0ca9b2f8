/** Bytes of memory that a text takes: V8 uses one byte a character while all are Latin-1, else two. */
export const textBytes = (text: string): number => (beyondLatin1.test(text) ? 2 * text.length : text.length);

const beyondLatin1 = /[^\0-\xff]/;
