import { oneStep, type WorkConnection } from "../../turns/work-connection.ts";

/**
 * A text that takes long to make and that many may ask for at once, such as metrics: it is made for all of them together, as a step of the service's own work. Who
 * asks while it is being made gets the next one.
 */
export class SharedText {
  readonly #make: () => Promise<string>;
  readonly #service: WorkConnection;
  #making: Promise<Buffer> | undefined;
  #next: Promise<Buffer> | undefined;

  constructor(service: WorkConnection, make: () => Promise<string>) {
    this.#service = service;
    this.#make = make;
  }

  /** In UTF-8. */
  read(): Promise<Buffer> {
    if (this.#making) {
      this.#next ??= this.#making.then(this.#readNext, this.#readNext);
      return this.#next;
    }
    const making = this.#makeInTurn();
    this.#making = making;
    return making;
  }

  async #makeInTurn(): Promise<Buffer> {
    try {
      // In an object, because the turn would wait for a promise.
      const { text } = await this.#service.run(oneStep(() => ({ text: this.#make() })));
      return Buffer.from(await text);
    } finally {
      this.#making = undefined;
    }
  }

  readonly #readNext = (): Promise<Buffer> => {
    this.#next = undefined;
    return this.read();
  };
}
