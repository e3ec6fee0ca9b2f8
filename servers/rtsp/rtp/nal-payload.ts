import type { PacketHead } from "./packet-writer.ts";
import { PacketWriter } from "./packet-writer.ts";

/** What differs between RFC 6184 and RFC 7798. */
export interface NalFormat {
  /** Of a NAL unit: 1 or 2. */
  readonly headerBytes: 1 | 2;
  /** Of a fragment, in place of the header of the unit. */
  readonly fragmentHeadBytes: 2 | 3;
  /** Writes the payload header of an aggregation of these units. */
  aggregationHeader(writer: PacketWriter, units: readonly Buffer[]): void;
  fragmentHeader(writer: PacketWriter, unit: Buffer, isFirst: boolean, isLast: boolean): void;
}

/** Small neighbours share a packet, large units are cut into fragments; the last packet of the access unit is marked. */
export function writeNalUnits(head: PacketHead, units: readonly Buffer[], mostPayload: number, format: NalFormat): PacketWriter {
  const { headerBytes, fragmentHeadBytes } = format;
  const mostFragment = mostPayload - fragmentHeadBytes;
  const groups = groupUnits(units, mostPayload, headerBytes);
  let packets = 0;
  let payloadBytes = 0;
  for (const group of groups) {
    const [unit] = group;
    if (group.length > 1) {
      packets++;
      payloadBytes += headerBytes;
      for (const member of group) payloadBytes += 2 + member.length;
    } else if (unit && unit.length > mostPayload) {
      const fragments = Math.ceil((unit.length - headerBytes) / mostFragment);
      packets += fragments;
      payloadBytes += unit.length - headerBytes + fragments * fragmentHeadBytes;
    } else if (unit) {
      packets++;
      payloadBytes += unit.length;
    }
  }
  const writer = new PacketWriter(head, packets, payloadBytes);
  for (const [index, group] of groups.entries()) {
    const isLastGroup = index === groups.length - 1;
    const [unit] = group;
    if (!unit) continue;
    if (group.length > 1) writeAggregation(writer, group, isLastGroup, format);
    else if (unit.length > mostPayload) writeFragments(writer, unit, isLastGroup, mostFragment, format);
    else {
      writer.packet(unit.length, isLastGroup);
      writer.copy(unit);
    }
  }
  return writer;
}

function groupUnits(units: readonly Buffer[], mostPayload: number, headerBytes: number): Buffer[][] {
  const groups: Buffer[][] = [];
  let open: Buffer[] | undefined;
  let size = headerBytes;
  for (const unit of units) {
    const added = 2 + unit.length;
    if (open && size + added <= mostPayload) {
      open.push(unit);
      size += added;
      continue;
    }
    open = [unit];
    size = headerBytes + added;
    groups.push(open);
  }
  return groups;
}

function writeAggregation(writer: PacketWriter, units: readonly Buffer[], isMarked: boolean, format: NalFormat): void {
  let size = format.headerBytes as number;
  for (const unit of units) size += 2 + unit.length;
  writer.packet(size, isMarked);
  format.aggregationHeader(writer, units);
  for (const unit of units) {
    writer.twoBytes(unit.length);
    writer.copy(unit);
  }
}

function writeFragments(writer: PacketWriter, unit: Buffer, isLastGroup: boolean, mostFragment: number, format: NalFormat): void {
  const { headerBytes, fragmentHeadBytes } = format;
  for (let from = headerBytes as number; from < unit.length; from += mostFragment) {
    const to = Math.min(unit.length, from + mostFragment);
    const isLast = to === unit.length;
    writer.packet(fragmentHeadBytes + to - from, isLast && isLastGroup);
    format.fragmentHeader(writer, unit, from === headerBytes, isLast);
    writer.copy(unit, from, to);
  }
}

/** RFC 6184 §5.7.1 (STAP-A) and §5.8 (FU-A). */
export const h264Format: NalFormat = {
  headerBytes: 1,
  fragmentHeadBytes: 2,
  aggregationHeader(writer, units) {
    let forbidden = 0;
    let reference = 0;
    for (const unit of units) {
      const first = unit[0] as number;
      forbidden |= first & 0x80;
      reference = Math.max(reference, first & 0x60);
    }
    writer.byte(forbidden | reference | h264Payload.stapA);
  },
  fragmentHeader(writer, unit, isFirst, isLast) {
    const first = unit[0] as number;
    writer.byte((first & 0xe0) | h264Payload.fuA);
    writer.byte((isFirst ? 0x80 : 0) | (isLast ? 0x40 : 0) | (first & 0x1f));
  },
};
export const h264Payload = { stapA: 24, fuA: 28 } as const;

/** RFC 7798 §4.4.2 (AP) and §4.4.3 (FU). */
export const h265Format: NalFormat = {
  headerBytes: 2,
  fragmentHeadBytes: 3,
  aggregationHeader(writer, units) {
    let forbidden = 0;
    let layer = 63;
    let temporal = 7;
    for (const unit of units) {
      const header = unit.readUInt16BE(0);
      forbidden |= header & 0x8000;
      layer = Math.min(layer, (header >> 3) & 0x3f);
      temporal = Math.min(temporal, header & 7);
    }
    writer.twoBytes(forbidden | (h265Payload.aggregation << 9) | (layer << 3) | temporal);
  },
  fragmentHeader(writer, unit, isFirst, isLast) {
    const header = unit.readUInt16BE(0);
    writer.twoBytes((header & 0x81ff) | (h265Payload.fragment << 9));
    writer.byte((isFirst ? 0x80 : 0) | (isLast ? 0x40 : 0) | ((header >> 9) & 0x3f));
  },
};
export const h265Payload = { aggregation: 48, fragment: 49 } as const;
