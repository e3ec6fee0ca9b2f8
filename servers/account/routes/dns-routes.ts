import type { AccountStore } from "../store/account-store.ts";
import type { DnsRecord, RecordContent, Zone } from "../store/zones-table.ts";
import { type ApiRoute, type Call, JsonTexts } from "./account-routes.ts";
import { addedRecord, listedRecord, parseRecord } from "./dns-record.ts";
import { notFound, Refusal } from "./refusal.ts";

const mostRecords = 2_000;
/** Of the names and contents of a zone: it is answered as a whole. */
const mostCharacters = 1 << 20;

const charactersOf = ({ name, content }: RecordContent): number => name.length + content.length;

export function dnsRoutes({ zones, write }: Pick<AccountStore, "zones" | "write">, now: () => number): readonly ApiRoute[] {
  async function zoneOf(call: Call): Promise<Zone> {
    const { user } = await call.caller();
    const [service, zone] = [call.number("service"), call.number("zone")];
    const found = service === undefined || zone === undefined ? undefined : zones.find(user.id, service, zone);
    if (!found) throw notFound();
    return found;
  }

  function recordOf(call: Call, zone: Zone): DnsRecord {
    const id = call.number("record");
    const record = id === undefined ? undefined : zones.record(Number(zone.domain_id), id);
    if (!record) throw notFound();
    return record;
  }

  /** RFC 1034 §4.2.1: a zone has a name server at its top. */
  function requireOtherNs({ domain_id, name }: Zone, record: DnsRecord): void {
    const isTop = record.type === "NS" && record.name.toLowerCase() === name.toLowerCase();
    if (isTop && zones.nameServers(Number(domain_id), name) === 1) throw new Refusal(400, "nsneeded");
  }

  /** `before` gives way to the new content. */
  function requireRoom({ domain_id }: Zone, content: RecordContent, before?: DnsRecord): void {
    const { records, characters } = zones.size(Number(domain_id));
    if (!before && records >= mostRecords) throw new Refusal(400, "toomanyrecords");
    const growth = charactersOf(content) - (before ? charactersOf(before) : 0);
    if (growth > 0 && characters + growth > mostCharacters) throw new Refusal(400, "zonetoolarge");
  }

  /** An object by position. Each record is on a line of its own, for clients that cut its id out of a line. */
  function* zoneTexts({ service_id, name, domain_id }: Zone): Generator<string, void> {
    yield `${JSON.stringify({ service_id, name }).slice(0, -1)},"records":{`;
    let position = 0;
    for (const id of zones.recordIds(Number(domain_id))) {
      const record = zones.record(Number(domain_id), id);
      // Removed meanwhile.
      if (!record) continue;
      yield `${position === 0 ? "" : ","}"${position}":\n${JSON.stringify(listedRecord(record))}`;
      position++;
    }
    yield "}}";
  }

  return [
    {
      path: "/dns",
      methods: {
        GET: async (call) => {
          const own = zones.ofUser((await call.caller()).user.id);
          return { service_ids: [...new Set(own.map(({ service_id }) => service_id))], zones: own };
        },
      },
    },
    {
      path: "/service/:service/dns/:zone",
      methods: {
        GET: async (call) => {
          return new JsonTexts(zoneTexts(await zoneOf(call)));
        },
      },
    },
    {
      path: "/service/:service/dns/:zone/records",
      methods: {
        POST: async (call) => {
          const zone = await zoneOf(call);
          const content = parseRecord(await call.fields(), zone.name, undefined, now());
          const record = await write(() => {
            requireRoom(zone, content);
            return zones.addRecord(Number(zone.domain_id), content);
          });
          return { success: true, record: addedRecord(record), info: [["dnsnewrecordadded", record.type]] };
        },
      },
    },
    {
      path: "/service/:service/dns/:zone/records/:record",
      methods: {
        PUT: async (call) => {
          const zone = await zoneOf(call);
          recordOf(call, zone);
          const fields = await call.fields();
          await write(() => {
            const record = recordOf(call, zone);
            const content = parseRecord(fields, zone.name, record, now());
            if (content.type !== "NS" || content.name.toLowerCase() !== record.name.toLowerCase()) requireOtherNs(zone, record);
            requireRoom(zone, content, record);
            zones.setRecord(record.id, content);
          });
          return { success: true, info: ["dnsrecordupdated"] };
        },
        DELETE: async (call) => {
          const zone = await zoneOf(call);
          await write(() => {
            const record = recordOf(call, zone);
            if (record.type === "SOA") throw new Refusal(400, "soaneeded");
            requireOtherNs(zone, record);
            zones.removeRecord(record.id);
          });
          return { success: true };
        },
      },
    },
  ];
}
