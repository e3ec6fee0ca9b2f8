import type { Database, Statement } from "better-sqlite3";
import type { RollupCounts } from "./rollup.ts";

export interface SqliteRollups {
  /** Within the transaction of the events themselves. */
  add(counts: RollupCounts): void;
  subtract(counts: RollupCounts): void;
  counter(name: "devices" | "plotted"): number;
  setCounter(name: "devices" | "plotted", value: number): void;
}

export function createSqliteRollups(database: Database): SqliteRollups {
  const addDay = database.prepare("INSERT INTO roll_day VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n");
  const addBlock = database.prepare(`INSERT INTO roll_block (block, outcome, n, first_at, last_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET n = n + excluded.n, first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)`);
  const raiseDevice = database.prepare("UPDATE roll_device SET n = n + ? WHERE device_id = ? AND outcome = ?");
  const insertDevice = database.prepare("INSERT INTO roll_device VALUES (?, ?, ?)");
  const anyOfDevice = database.prepare("SELECT 1 FROM roll_device WHERE device_id = ? LIMIT 1").pluck();
  const raiseCounter = database.prepare("UPDATE roll_counter SET n = n + ? WHERE name = ?");
  const setCounter = database.prepare("UPDATE roll_counter SET n = ? WHERE name = ?");
  const readCounter = database.prepare("SELECT n FROM roll_counter WHERE name = ?").pluck();
  const lower = (table: string, key: string): [Statement, Statement] => [
    database.prepare(`UPDATE ${table} SET n = n - ? WHERE ${key} = ? AND outcome = ?`),
    database.prepare(`DELETE FROM ${table} WHERE ${key} = ? AND outcome = ? AND n <= 0`),
  ];
  const lowerDay = lower("roll_day", "day");
  const lowerBlock = lower("roll_block", "block");
  const lowerDevice = lower("roll_device", "device_id");

  return {
    add({ days, devices, blocks }) {
      for (const row of days) addDay.run(...row);
      for (const row of blocks) addBlock.run(...row);
      let newDevices = 0;
      for (const [device, outcome, events] of devices) {
        if (raiseDevice.run(events, device, outcome).changes > 0) continue;
        if (anyOfDevice.get(device) === undefined) newDevices += 1;
        insertDevice.run(device, outcome, events);
      }
      if (newDevices > 0) raiseCounter.run(newDevices, "devices");
    },
    subtract({ days, devices, blocks }) {
      for (const [[raise, clear], rows] of [
        [lowerDay, days],
        [lowerBlock, blocks],
        [lowerDevice, devices],
      ] as const) {
        for (const [key, outcome, events] of rows) {
          raise.run(events, key, outcome);
          clear.run(key, outcome);
        }
      }
      const gone = new Set(devices.map(([device]) => device).filter((device) => anyOfDevice.get(device) === undefined));
      if (gone.size > 0) raiseCounter.run(-gone.size, "devices");
    },
    counter: (name) => (readCounter.get(name) as number | undefined) ?? 0,
    setCounter: (name, value) => void setCounter.run(value, name),
  };
}
