import type Sqlite from "better-sqlite3";

export interface Invoice {
  readonly id: string;
  readonly number: string;
  readonly date: string;
  readonly datepaid: string;
  readonly total: string;
  readonly subtotal: string;
  readonly status: string;
  readonly currency: string;
}

export interface HostingService {
  readonly id: string;
  readonly domain: string;
  readonly total: string;
  readonly status: string;
  readonly billingcycle: string;
  readonly next_due: string;
  readonly category: string;
  readonly category_url: string;
  readonly name: string;
}

export interface BillingTables {
  /** Newest first; with an id that one, if it is the user's. Keys in the order of the API. */
  invoices(userId: number, id?: number): Invoice[];
  services(userId: number, id?: number): HostingService[];
  /** The unpaid sum: "12.30". */
  balance(userId: number): string;
  addInvoice(userId: number, invoice: Invoice): void;
  addService(userId: number, service: HostingService): void;
}

export function createBillingTables(database: Sqlite.Database): BillingTables {
  const invoiceColumns = "CAST(id AS TEXT) AS id, number, date, datepaid, total, subtotal, status, currency";
  const serviceColumns = "CAST(id AS TEXT) AS id, domain, total, status, billingcycle, next_due, category, category_url, name";
  const invoices = database.prepare(`SELECT ${invoiceColumns} FROM invoices WHERE user_id = ? ORDER BY invoices.id DESC`);
  const invoice = database.prepare(`SELECT ${invoiceColumns} FROM invoices WHERE user_id = ? AND invoices.id = ?`);
  const services = database.prepare(`SELECT ${serviceColumns} FROM services WHERE user_id = ? ORDER BY services.id`);
  const service = database.prepare(`SELECT ${serviceColumns} FROM services WHERE user_id = ? AND services.id = ?`);
  const unpaid = database
    .prepare("SELECT coalesce(sum(CAST(round(total * 100) AS INTEGER)), 0) FROM invoices WHERE user_id = ? AND status = 'Unpaid'")
    .pluck();
  const insertInvoice = database.prepare("INSERT INTO invoices VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const insertService = database.prepare("INSERT INTO services VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  return {
    invoices: (userId, id) => (id === undefined ? invoices.all(userId) : invoice.all(userId, id)) as Invoice[],
    services: (userId, id) => (id === undefined ? services.all(userId) : service.all(userId, id)) as HostingService[],
    balance: (userId) => ((unpaid.get(userId) as number) / 100).toFixed(2),
    addInvoice: (userId, { id, number, date, datepaid, total, subtotal, status, currency }) =>
      void insertInvoice.run(Number(id), userId, number, date, datepaid, total, subtotal, status, currency),
    addService: (userId, { id, domain, total, status, billingcycle, next_due, category, category_url, name }) =>
      void insertService.run(Number(id), userId, domain, total, status, billingcycle, next_due, category, category_url, name),
  };
}
