import type { DescriptionFlaw } from "../../../contract/services/rtsp-faults.ts";
import { type SdpMedia, type WrittenDescription, writeSdp } from "../../core/rtp/sdp.ts";
import { controlOf } from "../protocol/media-description.ts";

/** A description that a client should not trust. */
export function writeWrongSdp(description: WrittenDescription, flaw: DescriptionFlaw): string {
  switch (flaw) {
    case "cut": {
      const text = writeSdp(description);
      return text.slice(0, text.length >> 1);
    }
    case "parameter-sets":
      return changed(description, withOtherParameterSets);
    case "payload-types":
      return changed(description, withOtherPayloadTypes);
    case "controls":
      return changed(description, (media, index, count) => withAttribute(media, "control", () => controlOf(index + count)));
    default:
      return flaw satisfies never;
  }
}

const changed = (description: WrittenDescription, change: (media: SdpMedia, index: number, count: number) => SdpMedia): string =>
  writeSdp({ ...description, media: description.media.map((media, index, { length }) => change(media, index, length)) });

const withAttribute = (media: SdpMedia, name: string, change: (value: string) => string): SdpMedia => ({
  ...media,
  attributes: media.attributes.map(([key, value]) => [key, key === name ? change(value) : value] as const),
});

/** Of a type that no decoder knows, in base64 and in hexadecimal. */
const withOtherParameterSets = (media: SdpMedia): SdpMedia =>
  withAttribute(media, "fmtp", (value) =>
    value.replace(/(?<![a-z-])(sprop-[a-z-]+=)[^;]*/g, "$1AAAA").replace(/(config=)[^;]*/g, "$1ffff"),
  );

const firstDynamic = 96;

/** Those of the packets are not among them. */
function withOtherPayloadTypes(media: SdpMedia): SdpMedia {
  const other = (type: string) => String(Number(type) < firstDynamic ? Number(type) + firstDynamic : Number(type) + 16);
  const inAttribute = (value: string) => value.replace(/^\d+/, other);
  return withAttribute(withAttribute({ ...media, formats: media.formats.map(other) }, "rtpmap", inAttribute), "fmtp", inAttribute);
}
