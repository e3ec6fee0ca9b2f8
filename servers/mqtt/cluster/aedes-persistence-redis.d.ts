/** The package has no types: these describe what is used. */
declare module "aedes-persistence-redis/asyncPersistence.js" {
  export default class AsyncRedisPersistence {
    constructor(options: {
      conn: {
        hset(key: string, topic: string, value: Uint8Array): Promise<unknown>;
        hdel(key: string, topic: string): Promise<unknown>;
        hgetBuffer(key: string, topic: string): Promise<Uint8Array | null>;
      };
    });
    storeRetained(packet: { topic: string; payload: Uint8Array }): Promise<void>;
    createRetainedStream(topic: string): AsyncIterable<unknown>;
  }
}
