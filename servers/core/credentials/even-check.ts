interface EvenCheckOptions<Secret> {
  /** Secrets of the same kind take the same work. */
  readonly kindOf: (secret: Secret) => string;
  readonly matches: (secret: Secret, password: string | Buffer) => Promise<boolean>;
}

/**
 * Checks a password against the secrets of a name. What is refused has taken the same work for every name, known or not, also where names have secrets of
 * different kinds: of each kind as many are checked as the name with the most of them has.
 */
export function createEvenCheck<Secret>(
  secrets: ReadonlyMap<string, readonly Secret[]>,
  { kindOf, matches }: EvenCheckOptions<Secret>,
): (name: string, password: string | Buffer) => Promise<boolean> {
  const most = new Map<string, readonly Secret[]>();
  for (const ofName of secrets.values()) {
    for (const [kind, ofKind] of Map.groupBy(ofName, kindOf)) if (ofKind.length > (most.get(kind)?.length ?? 0)) most.set(kind, ofKind);
  }
  return async (name, password) => {
    const own = Map.groupBy(secrets.get(name) ?? [], kindOf);
    for (const [kind, standIns] of most) {
      const ofKind = own.get(kind) ?? [];
      for (const secret of ofKind) if (await matches(secret, password)) return true;
      for (const secret of standIns.slice(ofKind.length)) await matches(secret, password);
    }
    return false;
  };
}
