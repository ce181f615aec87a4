/** Runs work once for all who ask for it under one name while it runs; they share its result or its failure. */
export type SingleFlight = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

export function singleFlight(): SingleFlight {
  const flights = new Map<string, Promise<unknown>>();
  return <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const running = flights.get(name) as Promise<Result> | undefined;
    if (running !== undefined) return running;
    const flight = work().finally(() => flights.delete(name));
    flights.set(name, flight);
    return flight;
  };
}
