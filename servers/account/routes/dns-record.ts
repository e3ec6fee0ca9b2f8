import { isIPv4, isIPv6 } from "node:net";
import type { DnsRecord, RecordContent } from "../store/zones-table.ts";
import { Refusal } from "./refusal.ts";
import type { Fields } from "./request-fields.ts";

/** As a zone lists it: every value is a string. `prio` and `priority` are one number under the two names that clients read. */
export const listedRecord = (record: DnsRecord) => ({
  id: String(record.id),
  domain_id: String(record.zone_id),
  name: record.name,
  type: record.type,
  content: record.content,
  ttl: String(record.ttl),
  prio: String(record.priority),
  change_date: String(record.change_date),
  priority: String(record.priority),
});

/** The record in the answer to an addition: clients read ttl and priority as numbers there. */
export const addedRecord = (record: DnsRecord) => ({ ...listedRecord(record), ttl: record.ttl, priority: record.priority });

const types = new Set(
  "A AAAA AFSDB ALIAS CAA CERT CNAME DNAME DNSKEY DS HINFO HTTPS LOC MX NAPTR NS OPENPGPKEY PTR RP SOA SPF SRV SSHFP SVCB TLSA TXT URI".split(
    " ",
  ),
);
const quoted = new Set(["TXT", "SPF"]);
const defaultTtl = 3_600;
const longestContent = 4_096;

/**
 * A record from a request's fields; what they do not name stays as it is in `before`. Fields that a client
 * sends back from a listing (id, domain_id) are ignored. Throws 400 that names the field.
 */
export function parseRecord(fields: Fields, zone: string, before: DnsRecord | undefined, nowMs: number): RecordContent {
  const given = (name: string) => fields.get(name) ?? undefined;
  const type = (text(given("type"), "type") ?? before?.type ?? "").toUpperCase();
  if (!types.has(type)) throw invalidField("type");
  const isNew = before === undefined;
  // A zone has exactly one, created with it (RFC 1035 §5.2).
  if ((type === "SOA") !== (before?.type === "SOA")) throw invalidField("type");

  const name = text(given("name"), "name");
  const content = text(given("content"), "content") ?? before?.content;
  if (content === undefined || content.trim() === "") throw invalidField("content");
  return {
    name: nameOf(type, name === undefined ? (before?.name ?? zone) : fullName(name, zone), zone),
    type,
    content: checkedContent(type, content.trim()),
    ttl: wholeNumber(given("ttl"), "ttl", 0x7fff_ffff) ?? before?.ttl ?? defaultTtl,
    priority:
      wholeNumber(given("priority"), "priority", 65_535) ?? wholeNumber(given("prio"), "prio", 65_535) ?? (isNew ? 0 : before.priority),
    change_date: Math.floor(nowMs / 1_000),
  };
}

const invalidField = (name: string) => new Refusal(400, `invalidfield: ${name}`);

function text(value: unknown, name: string): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw invalidField(name);
}

/** A number, or its digits; some clients send an empty text for none. */
function wholeNumber(value: unknown, name: string, most: number): number | undefined {
  if (value === undefined || value === "") return undefined;
  const number = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= 0 && number <= most) return number;
  throw invalidField(name);
}

/** Clients send a record's full name, or the part before the zone's name. */
function fullName(given: string, zone: string): string {
  const name = given.trim().replace(/\.$/, "");
  const isWhole = name.toLowerCase() === zone.toLowerCase() || name.toLowerCase().endsWith(`.${zone.toLowerCase()}`);
  const full = name === "" || name === "@" ? zone : isWhole ? name : `${name}.${zone}`;
  // RFC 1035 §2.3.4
  const isName = full.length <= 253 && full.split(".").every((label) => /^[!-~]{1,63}$/.test(label) && !/["\\]/.test(label));
  if (!isName) throw invalidField("name");
  return full;
}

/** RFC 1035 §5.2: the SOA is the zone's own, at its top. */
function nameOf(type: string, name: string, zone: string): string {
  if (type === "SOA" && name.toLowerCase() !== zone.toLowerCase()) throw invalidField("name");
  return name;
}

/** A host or another DNS name; other scripts as "xn--" (RFC 5890). Only the root is a single dot. */
const dnsName = String.raw`(?:\.|(?=[^\s]{1,254}$)[\w-]{1,63}(?:\.[\w-]{1,63})*\.?)`;
const alone = new RegExp(`^${dnsName}$`);
/** RFC 1035 §3.3.13: two names, then serial, refresh, retry, expire and minimum. */
const soaContent = /^[\w.-]{1,254} [\w.\\-]{1,254}(?: \d{1,10}){5}$/;
const contents: Readonly<Record<string, RegExp>> = {
  SOA: soaContent,
  NS: alone,
  CNAME: alone,
  DNAME: alone,
  PTR: alone,
  ALIAS: alone,
  // Some clients write the preference before the host, as in a zone file.
  MX: new RegExp(String.raw`^(?:\d{1,5} )?${dnsName}$`),
};

/** A zone, as in "fe80::1%eth0", belongs to one computer: it is none of the address's text (RFC 4291 §2.2). */
const isAddress6 = (text: string): boolean => isIPv6(text) && !text.includes("%");

function checkedContent(type: string, content: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (content.length > longestContent || /[\0-\x1f\x7f]/.test(content)) throw invalidField("content");
  if ((type === "A" && !isIPv4(content)) || (type === "AAAA" && !isAddress6(content))) throw invalidField("content");
  if (contents[type]?.test(content) === false) throw invalidField("content");
  return quoted.has(type) ? inQuotes(content) : content;
}

/** RFC 1035 §5.1: a character-string in quotes, with quotes and backslashes in it escaped. */
const inQuotes = (content: string): string =>
  /^"(?:[^"\\]|\\.)*"(?: "(?:[^"\\]|\\.)*")*$/.test(content) ? content : `"${content.replace(/["\\]/g, "\\$&")}"`;
