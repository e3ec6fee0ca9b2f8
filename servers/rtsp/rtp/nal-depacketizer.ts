import { GatheredBytes } from "../../core/net/gathered-bytes.ts";
import { compact, unitOverheadBytes } from "../media/frame-memory.ts";
import { mostUnits } from "../media/nal-units.ts";
import type { DepacketizedFrame, Depacketizer } from "../media/track.ts";
import type { NalPayloads } from "./nal-payload-reader.ts";

/** A key frame in 4K has about a megabyte. */
const mostFrameBytes = 8 << 20;

/** Collects the NAL units of an access unit: packets with the same timestamp, up to the marked one. */
export class NalDepacketizer implements Depacketizer {
  dropped = 0;
  readonly #payloads: NalPayloads;
  #timestamp = 0;
  #units: Buffer[] = [];
  #bytes = 0;
  #hasSlice = false;
  #isKey = false;
  /** Something of this access unit is missing or wrong: the rest of it is passed over. */
  #isBroken = false;
  readonly #fragments = new GatheredBytes();

  constructor(payloads: NalPayloads) {
    this.#payloads = payloads;
  }

  get heldBytes(): number {
    return this.#bytes + this.#units.length * unitOverheadBytes;
  }

  giveUp(): void {
    if (this.heldBytes > 0) this.#break();
  }

  push(payload: Buffer, timestamp: number, isMarked: boolean, isAfterLoss: boolean): readonly DepacketizedFrame[] {
    const frames: DepacketizedFrame[] = [];
    // What was open when packets were lost may lack its end.
    if (isAfterLoss && (this.#hasSlice || this.#fragments.length > 0)) this.#break();
    if (timestamp !== this.#timestamp) {
      this.#finish(frames);
      this.#timestamp = timestamp;
    }
    this.#take(payload);
    if (isMarked) this.#finish(frames);
    return frames;
  }

  #take(payload: Buffer): void {
    if (this.#isBroken) return;
    const content = this.#payloads.read(payload);
    if (!content) {
      this.#break();
      return;
    }
    if ("units" in content) {
      // A fragmented unit that never ended.
      if (this.#fragments.length > 0) this.#break();
      for (const unit of content.units) this.#add(unit, unit.length);
      return;
    }
    const { header, data, isFirst, isLast } = content;
    if (isFirst === this.#fragments.length > 0) {
      this.#break();
      return;
    }
    if (isFirst) this.#fragments.add(header);
    this.#fragments.add(data);
    this.#bytes += data.length;
    if (this.#bytes > mostFrameBytes) this.#break();
    else if (isLast) this.#add(this.#fragments.take(), 0);
  }

  #add(unit: Buffer, bytes: number): void {
    if (this.#isBroken) return;
    const { isSlice, isFirstSlice, isKey } = this.#payloads;
    if (isSlice(unit)) {
      if (!this.#hasSlice && !isFirstSlice(unit)) {
        this.#break();
        return;
      }
      this.#hasSlice = true;
      this.#isKey ||= isKey(unit);
    }
    this.#units.push(compact(unit));
    this.#bytes += bytes;
    if (this.#bytes > mostFrameBytes || this.#units.length > mostUnits) this.#break();
  }

  #break(): void {
    if (!this.#isBroken) this.dropped++;
    this.#clear();
    this.#isBroken = true;
  }

  #finish(frames: DepacketizedFrame[]): void {
    if (this.#fragments.length > 0) this.#break();
    if (this.#isBroken) this.#clear();
    // Parameter sets that come with a timestamp or a marker of their own belong to the next picture.
    if (!this.#hasSlice) return;
    frames.push({ timestamp: this.#timestamp, units: this.#units, isKey: this.#isKey });
    this.#clear();
  }

  #clear(): void {
    this.#units = [];
    this.#bytes = 0;
    this.#hasSlice = false;
    this.#isKey = false;
    this.#isBroken = false;
    this.#fragments.clear();
  }
}
