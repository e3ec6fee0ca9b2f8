import type { Message } from "./message.ts";

interface Notice {
  readonly topic: string;
}
type NoticeListener = (notice: Notice, done: () => void) => void;

/**
 * The emitter of the Aedes instance. Clients' messages go to every listener, because the engine's trie matches their topics;
 * mqemitter's own matching took a tenth of the broker's CPU. Aedes' internal notices are matched by exact topic. Its listeners for
 * other brokers use wildcards and are never called, since there is only one broker in the process.
 */
export class MessageEmitter {
  private readonly messageListeners: ((message: Message) => void)[] = [];
  private readonly noticeListeners = new Map<string, NoticeListener[]>();

  onMessage(listener: (message: Message) => void): void {
    this.messageListeners.push(listener);
  }

  publish(message: Message): void {
    const listeners = this.messageListeners;
    for (let index = 0; index < listeners.length; index++) (listeners[index] as (message: Message) => void)(message);
  }

  on(topic: string, listener: NoticeListener, done?: () => void): this {
    const known = this.noticeListeners.get(topic);
    if (known) known.push(listener);
    else this.noticeListeners.set(topic, [listener]);
    if (done) setImmediate(done);
    return this;
  }

  removeListener(topic: string, listener: NoticeListener, done?: () => void): this {
    const left = (this.noticeListeners.get(topic) ?? []).filter((one) => one !== listener);
    this.noticeListeners.set(topic, left);
    if (done) setImmediate(done);
    return this;
  }

  emit(notice: Notice, done: () => void = noop): this {
    for (const listener of this.noticeListeners.get(notice.topic) ?? []) listener(notice, noop);
    done();
    return this;
  }

  close(done: () => void): this {
    this.noticeListeners.clear();
    this.messageListeners.length = 0;
    setImmediate(done);
    return this;
  }
}

function noop(): void {}
