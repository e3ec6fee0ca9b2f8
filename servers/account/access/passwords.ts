import { randomBytes, type ScryptOptions, scrypt as scryptCallback, timingSafeEqual } from "node:crypto";

export interface Passwords {
  /** "scrypt$16384$8$1$salt$hash" */
  hash(password: string): Promise<string>;
  /** Takes as long without a stored hash as with one. Throws `TooBusy` when too many wait. */
  verify(password: string, stored: string | undefined): Promise<boolean>;
  /** Was made with another cost than passwords get now. */
  isOutdated(stored: string): boolean;
}

/** More hashes are wanted than this machine can make in good time. */
export class TooBusy extends Error {
  override readonly name = "TooBusy";
}

const blockSize = 8;
const parallel = 1;
const keyBytes = 32;
const longestPassword = 1_000;
/** Each waits for one of libuv's four threads; as many as may wait for a limit. */
const mostWaiting = 1_000;

interface Parameters {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallel: number;
}

export function createPasswords({ costExponent }: { readonly costExponent: number }): Passwords {
  const current: Parameters = { cost: 2 ** costExponent, blockSize, parallel };
  const nobody = { parameters: current, salt: randomBytes(16), hash: randomBytes(keyBytes) };
  let waiting = 0;

  async function derive(password: string, salt: Buffer, parameters: Parameters): Promise<Buffer> {
    if (waiting >= mostWaiting) throw new TooBusy();
    waiting += 1;
    try {
      return await scrypt(password, salt, parameters);
    } finally {
      waiting -= 1;
    }
  }

  return {
    async hash(password) {
      const salt = randomBytes(16);
      const hash = await derive(password, salt, current);
      return ["scrypt", current.cost, current.blockSize, current.parallel, salt.toString("base64url"), hash.toString("base64url")].join(
        "$",
      );
    },
    async verify(password, stored) {
      const known = stored === undefined ? undefined : parse(stored);
      const { parameters, salt, hash } = known ?? nobody;
      const given = await derive(password.slice(0, longestPassword), salt, parameters);
      return timingSafeEqual(given, hash) && known !== undefined && password.length <= longestPassword;
    },
    isOutdated(stored) {
      const { parameters } = parse(stored) ?? {};
      return parameters?.cost !== current.cost || parameters.blockSize !== blockSize || parameters.parallel !== parallel;
    },
  };
}

function parse(stored: string): { parameters: Parameters; salt: Buffer; hash: Buffer } | undefined {
  const match = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]{43})$/.exec(stored);
  if (!match) return undefined;
  const [, cost, size, threads, salt = "", hash = ""] = match;
  return {
    parameters: { cost: Number(cost), blockSize: Number(size), parallel: Number(threads) },
    salt: Buffer.from(salt, "base64url"),
    hash: Buffer.from(hash, "base64url"),
  };
}

const scrypt = (password: string, salt: Buffer, { cost, blockSize: r, parallel: p }: Parameters): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const options: ScryptOptions = { N: cost, r, p, maxmem: 256 * cost * r };
    scryptCallback(password, salt, keyBytes, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
