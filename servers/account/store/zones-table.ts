import type Sqlite from "better-sqlite3";

export interface Zone {
  readonly domain_id: string;
  readonly name: string;
  readonly service_id: string;
}

export interface DnsRecord {
  readonly id: number;
  readonly zone_id: number;
  readonly name: string;
  readonly type: string;
  readonly content: string;
  readonly ttl: number;
  readonly priority: number;
  /** Seconds since the epoch. */
  readonly change_date: number;
}
export type RecordContent = Omit<DnsRecord, "id" | "zone_id">;

export interface ZonesTable {
  /** Keys in the order of the API. */
  ofUser(userId: number): Zone[];
  /** The zone under that service, where both are the user's. */
  find(userId: number, serviceId: number, zoneId: number): Zone | undefined;
  add(serviceId: number, id: number, name: string): void;
  /** Of SOA, then NS, then the rest, each in order of creation. */
  recordIds(zoneId: number): number[];
  /** How many NS records have this name, in any case. */
  nameServers(zoneId: number, name: string): number;
  record(zoneId: number, id: number): DnsRecord | undefined;
  addRecord(zoneId: number, record: RecordContent): DnsRecord;
  setRecord(id: number, record: RecordContent): void;
  removeRecord(id: number): void;
  /** Their number, and the characters of all names and contents. */
  size(zoneId: number): { readonly records: number; readonly characters: number };
}

export function createZonesTable(database: Sqlite.Database): ZonesTable {
  const columns = "CAST(zones.id AS TEXT) AS domain_id, zones.name, CAST(zones.service_id AS TEXT) AS service_id";
  const from = "FROM zones JOIN services ON services.id = zones.service_id WHERE services.user_id = ?";
  const ofUser = database.prepare(`SELECT ${columns} ${from} ORDER BY zones.id`);
  const find = database.prepare(`SELECT ${columns} ${from} AND zones.service_id = ? AND zones.id = ?`);
  const add = database.prepare("INSERT INTO zones (id, service_id, name) VALUES (?, ?, ?)");
  const recordIds = database
    .prepare("SELECT id FROM records WHERE zone_id = ? ORDER BY CASE type WHEN 'SOA' THEN 0 WHEN 'NS' THEN 1 ELSE 2 END, id")
    .pluck();
  const nameServers = database.prepare("SELECT count(*) FROM records WHERE zone_id = ? AND type = 'NS' AND lower(name) = lower(?)").pluck();
  const record = database.prepare("SELECT * FROM records WHERE zone_id = ? AND id = ?");
  const insert = database.prepare(
    "INSERT INTO records (zone_id, name, type, content, ttl, priority, change_date) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const update = database.prepare(
    "UPDATE records SET name = ?, type = ?, content = ?, ttl = ?, priority = ?, change_date = ? WHERE id = ?",
  );
  const remove = database.prepare("DELETE FROM records WHERE id = ?");
  const size = database.prepare(
    "SELECT count(*) AS records, coalesce(sum(length(name) + length(content)), 0) AS characters FROM records WHERE zone_id = ?",
  );
  const values = ({ name, type, content, ttl, priority, change_date }: RecordContent) => [name, type, content, ttl, priority, change_date];
  return {
    ofUser: (userId) => ofUser.all(userId) as Zone[],
    find: (userId, serviceId, zoneId) => find.get(userId, serviceId, zoneId) as Zone | undefined,
    add: (serviceId, id, name) => void add.run(id, serviceId, name),
    recordIds: (zoneId) => recordIds.all(zoneId) as number[],
    nameServers: (zoneId, name) => nameServers.get(zoneId, name) as number,
    record: (zoneId, id) => record.get(zoneId, id) as DnsRecord | undefined,
    addRecord(zoneId, content) {
      const id = Number(insert.run(zoneId, ...values(content)).lastInsertRowid);
      return { id, zone_id: zoneId, ...content };
    },
    setRecord: (id, content) => void update.run(...values(content), id),
    removeRecord: (id) => void remove.run(id),
    size: (zoneId) => size.get(zoneId) as { records: number; characters: number },
  };
}
