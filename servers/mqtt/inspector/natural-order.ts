const zero = 48;
const nine = 57;
const isDigit = (code: number) => code >= zero && code <= nine;

/** Thousands of long names may begin alike. */
const comparedLength = 128;

/** Natural order: numbers in a name by value, "2" before "10"; names that differ only in leading zeros as text. 0 for names that differ far behind. */
export function compareNatural(one: string, other: string): number {
  return compareWhole(one.slice(0, comparedLength), other.slice(0, comparedLength));
}

function compareWhole(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let at = 0;
  while (at < shorter && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  // Go back to the start of the first number that differs.
  while (at > 0 && isDigit(one.charCodeAt(at - 1))) at--;
  let i = at;
  let j = at;
  while (i < one.length && j < other.length) {
    const left = one.charCodeAt(i);
    const right = other.charCodeAt(j);
    if (!isDigit(left) || !isDigit(right)) {
      if (left !== right) return left - right;
      i++;
      j++;
      continue;
    }
    const leftFrom = afterZeros(one, i);
    const rightFrom = afterZeros(other, j);
    i = afterDigits(one, leftFrom);
    j = afterDigits(other, rightFrom);
    const longer = i - leftFrom - (j - rightFrom);
    if (longer !== 0) return longer;
    for (let digit = 0; leftFrom + digit < i; digit++) {
      const difference = one.charCodeAt(leftFrom + digit) - other.charCodeAt(rightFrom + digit);
      if (difference !== 0) return difference;
    }
  }
  return one.length - i - (other.length - j) || (one < other ? -1 : one > other ? 1 : 0);
}

function afterZeros(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === zero) at++;
  return at;
}

function afterDigits(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}
