/** The package brings no types; these are of what is used. */
declare module "aedes-persistence-redis/asyncPersistence.js" {
  import type { Redis } from "ioredis";

  export default class AsyncRedisPersistence {
    constructor(options: { conn: Redis });
    storeRetained(packet: { topic: string; payload: Buffer }): Promise<void>;
    createRetainedStream(filter: string): AsyncIterable<unknown>;
  }
}
