import type { AccountStore } from "./account-store.ts";
import type { HostingService, Invoice } from "./billing-tables.ts";
import type { Contact } from "./users-table.ts";
import type { RecordContent } from "./zones-table.ts";

/** The user that documents, snippets and the sample traffic use. */
export const sampleUser = { email: "api@example.com", password: "backlot-demo" } as const;
/** TOTP secret of `mfa@example.com`. */
const sampleTotpSecret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";

interface SampleUser {
  readonly email: string;
  readonly contact: Partial<Contact>;
  readonly lastlogin: string;
  readonly credit: string;
  readonly enabled?: false;
  readonly totp?: string;
  readonly invoices: readonly Invoice[];
  readonly services: readonly (HostingService & { readonly zones?: readonly (readonly [id: number, name: string])[] })[];
}

const paid = (id: number, date: string, total: string, subtotal: string): Invoice => ({
  id: String(id),
  number: `INV-${id}`,
  date,
  datepaid: `${date} 09:12:40`,
  total,
  subtotal,
  status: "Paid",
  currency: "USD",
});
const unpaid = (id: number, date: string, total: string, subtotal: string): Invoice => ({
  ...paid(id, date, total, subtotal),
  datepaid: "0000-00-00 00:00:00",
  status: "Unpaid",
});
const dnsService = (id: number, domain: string): HostingService => ({
  id: String(id),
  domain,
  total: "0.000",
  status: "Active",
  billingcycle: "Free",
  next_due: "0000-00-00",
  category: "DNS",
  category_url: "dns",
  name: "DNS hosting",
});
const hosting = (id: number, domain: string, status = "Active"): HostingService => ({
  id: String(id),
  domain,
  total: "4.000",
  status,
  billingcycle: "Monthly",
  next_due: "2019-12-06",
  category: "Hosting",
  category_url: "hosting",
  name: "Starter Hosting",
});

const users: readonly SampleUser[] = [
  {
    email: sampleUser.email,
    contact: {
      type: "Company",
      firstname: "Joe",
      lastname: "Doe",
      companyname: "Example Ltd",
      address1: "Pretty View Lane",
      address2: "3294",
      city: "Santa Rosa",
      state: "CA",
      postcode: "95401",
      country: "US",
      phonenumber: "+1.24123223",
      emarketing: "0",
    },
    lastlogin: "2016-12-30 12:24:28",
    credit: "12.50",
    invoices: [
      paid(1001, "2019-09-06", "4.92", "4.00"),
      paid(1002, "2019-10-06", "4.92", "4.00"),
      unpaid(1003, "2019-11-06", "4.92", "4.00"),
    ],
    // A single zone: some shell clients read the first name they find.
    services: [{ ...dnsService(292, "example.com"), zones: [[1178, "example.com"]] }, hosting(32723, "example.com")],
  },
  {
    email: "billing@example.org",
    contact: {
      type: "Company",
      firstname: "Ana",
      lastname: "Lima",
      companyname: "Orchard Studio",
      companyregistrationnumber: "509123456",
      vateu: "PT509123456",
      address1: "Rua das Flores 12",
      city: "Porto",
      postcode: "4050-262",
      country: "PT",
      phonenumber: "+351.220000000",
      emarketing: "1",
    },
    lastlogin: "2019-11-02 08:15:03",
    credit: "0.00",
    invoices: [unpaid(1004, "2019-11-01", "24.60", "20.00"), unpaid(1005, "2019-11-12", "9.84", "8.00")],
    services: [
      {
        ...dnsService(293, "orchard.example"),
        zones: [
          [1179, "orchard.example"],
          [1180, "studio.example"],
        ],
      },
      hosting(32724, "orchard.example"),
      hosting(32725, "studio.example", "Suspended"),
    ],
  },
  {
    email: "mfa@example.com",
    contact: { type: "Private", firstname: "Mia", lastname: "Falk", city: "Wien", postcode: "1010", country: "AT" },
    lastlogin: "2019-11-20 19:44:10",
    credit: "0.00",
    totp: sampleTotpSecret,
    invoices: [],
    services: [hosting(32726, "falk.example")],
  },
  {
    email: "former@example.com",
    contact: { type: "Private", firstname: "Max", lastname: "Former", city: "Oslo", postcode: "0150", country: "NO" },
    lastlogin: "2018-01-03 07:01:55",
    credit: "0.00",
    enabled: false,
    invoices: [],
    services: [hosting(32727, "former.example", "Terminated")],
  },
];

const sampleRecords = (zone: string): readonly Omit<RecordContent, "change_date">[] => [
  {
    name: zone,
    type: "SOA",
    content: `ns1.backlot.example hostmaster.${zone} 2019110601 10800 3600 604800 3600`,
    ttl: 86_400,
    priority: 0,
  },
  { name: zone, type: "NS", content: "ns1.backlot.example", ttl: 86_400, priority: 0 },
  { name: zone, type: "NS", content: "ns2.backlot.example", ttl: 86_400, priority: 0 },
  { name: zone, type: "A", content: "192.0.2.10", ttl: 3_600, priority: 0 },
  { name: zone, type: "MX", content: `mail.${zone}`, ttl: 3_600, priority: 10 },
  { name: zone, type: "TXT", content: '"v=spf1 mx -all"', ttl: 3_600, priority: 0 },
  { name: `www.${zone}`, type: "CNAME", content: zone, ttl: 3_600, priority: 0 },
];

/** Replaces all that is stored; `password` is the hash that every sample user gets. */
export function putSampleData(store: AccountStore, password: string): void {
  store.together(() => {
    store.clear();
    for (const { email, contact, lastlogin, credit, enabled, totp, invoices, services } of users) {
      const { id } = store.users.add({ email, password, contact });
      store.users.set(id, {
        lastlogin,
        ip: "192.0.2.44",
        host: "client.example.net",
        acc_credit: credit,
        enabled: enabled === false ? 0 : 1,
        totp_secret: totp ?? null,
      });
      for (const invoice of invoices) store.billing.addInvoice(id, invoice);
      for (const { zones = [], ...service } of services) {
        store.billing.addService(id, service);
        for (const [zoneId, name] of zones) addZone(store, Number(service.id), zoneId, name);
      }
    }
  });
}

function addZone(store: AccountStore, serviceId: number, zoneId: number, name: string): void {
  store.zones.add(serviceId, zoneId, name);
  for (const record of sampleRecords(name)) store.zones.addRecord(zoneId, { ...record, change_date: 1_573_041_600 });
}

/** Gives a user the records of a sample user: DNS with a zone, hosting, a paid and an unpaid invoice. */
export function addSampleRecords(store: AccountStore, userId: number): void {
  const { invoice, service, zone } = store.freeNumbers();
  const domain = `user-${userId}.example`;
  store.billing.addInvoice(userId, paid(invoice, "2019-10-06", "4.92", "4.00"));
  store.billing.addInvoice(userId, unpaid(invoice + 1, "2019-11-06", "4.92", "4.00"));
  store.billing.addService(userId, dnsService(service, domain));
  addZone(store, service, zone, domain);
  store.billing.addService(userId, hosting(service + 1, domain));
}
