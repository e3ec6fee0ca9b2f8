import { expect, it } from "vitest";
import { AddressPlaces } from "../../servers/core/limits/address-places.ts";
import { seededRandom } from "../support/seeded-random.ts";

it("[WEBRTC-491] places that come and go by chance: one of the address that has most gives way, and to nobody who would have as many", () => {
  const random = seededRandom(491);
  const places = new AddressPlaces<number>();
  /** In their order, by address. */
  const model = new Map<number, { readonly address: string; isInUse: boolean }>();
  const addresses = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "127.0.0.1", "127.0.0.2"];
  // A /64 is one client, and so is this computer.
  const keyOf = (address: string) => (address.startsWith("127.") ? "127.0.0.1" : address);
  const countOf = (address: string) => [...model.values()].filter((one) => keyOf(one.address) === keyOf(address)).length;
  for (let step = 0; step < 3_000; step++) {
    const address = addresses[random.below(addresses.length)] as string;
    const item = random.below(60);
    const action = random.below(10);
    if (action < 5) {
      places.add(address, item);
      if (!model.has(item)) model.set(item, { address, isInUse: false });
    } else if (action < 7) {
      places.use(item);
      const known = model.get(item);
      if (known && !known.isInUse) {
        model.delete(item);
        model.set(item, { ...known, isInUse: true });
      }
    } else {
      places.remove(item);
      model.delete(item);
    }
    expect(places.size).toBe(model.size);
    const most = Math.max(...addresses.map(countOf));
    for (const asking of addresses) {
      const given = places.givingWay(asking);
      if (given === undefined) expect(most).toBeLessThanOrEqual(countOf(asking) + 1);
      else {
        const { address: from, isInUse } = model.get(given) ?? { address: "", isInUse: false };
        expect(countOf(from)).toBe(most);
        const ofSame = [...model].filter(([, one]) => keyOf(one.address) === keyOf(from));
        const idle = ofSame.filter(([, one]) => !one.isInUse);
        expect(isInUse).toBe(idle.length === 0);
        expect((isInUse ? ofSame : idle).at(-1)?.[0]).toBe(given);
      }
    }
  }
});
