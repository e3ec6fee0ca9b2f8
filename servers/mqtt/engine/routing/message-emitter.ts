import type { Message } from "./message.ts";

interface Notice {
  readonly topic: string;
}
type NoticeListener = (notice: Notice, done: () => void) => void;

/**
 * The emitter of the Aedes instance. Messages of clients go to all who listen: the engine's trie matches their topics, where
 * mqemitter's own matching was a tenth of the broker's CPU. What Aedes says to itself goes by whole topics; what it says to other
 * brokers under topics with wildcards finds nobody, for in one process there are none.
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
