/** The user whose sessions another tab asked to see; taken once. */
let asked: string | undefined;

export function askForUser(email: string): void {
  asked = email;
}

export function takeAskedUser(): string | undefined {
  const email = asked;
  asked = undefined;
  return email;
}
