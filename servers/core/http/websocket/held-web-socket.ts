import type { BudgetShare, SharedBudget } from "../../limits/shared-budget.ts";
import { closeCode } from "./close-code.ts";
import type { ServerWebSocket } from "./server-web-socket.ts";

const tryAgainLater = { code: closeCode.tryAgain, reason: "too many bytes of all clients" } as const;
type ClosedWith = typeof tryAgainLater;
/** For the client to answer the close frame. */
const lingerMs = 1_000;
/** A close frame can be written behind so few. */
const littleUnread = 100;

/** What one WebSocket has in memory: of the message that arrives, and what its client leaves unread. */
export class HeldWebSocket {
  readonly #webSocket: ServerWebSocket;
  readonly #share: BudgetShare;
  readonly #onClosing: (closed: ClosedWith) => void;
  #isOver = false;
  /** Of messages that arrived and wait for their turn. */
  waitingBytes = 0;

  /** `onClosing` is called where it has to be closed because all have too much and this one has most. */
  constructor(webSocket: ServerWebSocket, address: string, held: SharedBudget, onClosing: (closed: ClosedWith) => void = () => {}) {
    this.#webSocket = webSocket;
    this.#share = held.open(address, () => this.#giveWay());
    this.#onClosing = onClosing;
    webSocket.on("read", () => this.count());
    webSocket.once("close", () => {
      this.#release();
      this.#share.close();
    });
  }

  /** To be called when a message was taken or sent, or another one waits. */
  count(): void {
    if (!this.#isOver) this.#share.set(this.#webSocket.arrivingBytes + this.waitingBytes + this.#webSocket.unsentMemory);
  }

  #release(): void {
    this.#isOver = true;
    this.#share.set(0);
  }

  #giveWay(): void {
    this.#release();
    this.#onClosing(tryAgainLater);
    const isUnread = this.#webSocket.bufferedAmount > littleUnread;
    this.#webSocket.fail(tryAgainLater.code, tryAgainLater.reason, isUnread ? 0 : lingerMs);
  }
}
