import { createContract, type DocumentContract, type Operation, type SchemaObject } from './openapi.ts';
import { fieldsOf } from './schema-fields.ts';
import type { Answer } from './vault.ts';

/** A request and its answer, as a test had them. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** As it was sent, where it was JSON. */
  readonly requestBody: unknown;
  readonly answer: Answer;
}

/** What of the document the exchanges of a run have shown. */
export interface DocumentCoverage {
  /** `operationId status`. */
  readonly statuses: ReadonlySet<string>;
  /** Members of answers: `Token.data`, or below the operation where the schema has no name. */
  readonly answerFields: ReadonlySet<string>;
  /** Members of requests that succeeded. */
  readonly requestFields: ReadonlySet<string>;
  /** Query parameters of requests that succeeded: `operationId name`. */
  readonly parameters: ReadonlySet<string>;
}

export interface ExchangeRecorder {
  /** Fails where the document does not have the answer. What is no operation of it is to be answered by a problem. */
  record(exchange: Exchange): void;
  /** What there is to be seen, and was not. */
  unseen(): DocumentCoverage;
}

function schemaOf(
  holder: { content?: Record<string, { schema: SchemaObject }> } | undefined,
): SchemaObject | undefined {
  return Object.values(holder?.content ?? {})[0]?.schema;
}

/** A parameter that has a key of the caller's own in its name. */
const KEYED_PARAMETER = /^(metadata\.).*$/;

function addAll(to: Set<string>, found: Iterable<string>): void {
  for (const one of found) to.add(one);
}

export function createExchangeRecorder(contract: DocumentContract): ExchangeRecorder {
  const seen = {
    statuses: new Set<string>(),
    answerFields: new Set<string>(),
    requestFields: new Set<string>(),
    parameters: new Set<string>(),
  };

  function note(
    { operationId, responses, requestBody }: Operation,
    { path, answer, requestBody: sent }: Exchange,
  ): void {
    const status = responses[answer.status] === undefined ? 'default' : String(answer.status);
    const answered = schemaOf(responses[status]);
    seen.statuses.add(`${operationId} ${status}`);
    if (answered)
      addAll(seen.answerFields, fieldsOf(contract, answered, `${operationId} ${status}`, { of: answer.body }));
    if (answer.status >= 300) return;
    const asked = schemaOf(requestBody);
    if (asked) addAll(seen.requestFields, fieldsOf(contract, asked, operationId, { of: sent }));
    const names = [...new URLSearchParams(path.split('?')[1]).keys()];
    addAll(
      seen.parameters,
      names.map((name) => `${operationId} ${name.replace(KEYED_PARAMETER, '$1<key>')}`),
    );
  }

  return {
    record(exchange) {
      const { method, path, answer } = exchange;
      const found = contract.find(method, path);
      const what = `${method} ${found?.path ?? path.split('?')[0]} was answered by ${answer.status}, and the document`;
      if (found === undefined) {
        if (method === 'HEAD' || method === 'OPTIONS') return;
        const fault = contract.faultOf({ $ref: '#/components/schemas/Problem' }, answer.body);
        if (fault !== undefined)
          throw new Error(`${what} does not have the path: only a problem may be answered, but ${fault}`);
        return;
      }
      const faults = contract.faultsOfAnswer(found.operation, answer);
      if (faults.length > 0) throw new Error(`${what} does not have that: ${faults.join('; ')}`);
      note(found.operation, exchange);
    },
    unseen() {
      const without = (there: string[], known: ReadonlySet<string>) => new Set(there.filter((one) => !known.has(one)));
      const all = [...contract.operations, ...contract.serviceOperations].map(({ operation }) => operation);
      const answers = all.flatMap(({ operationId, responses }) =>
        Object.entries(responses).map(([status, response]) => ({
          at: `${operationId} ${status}`,
          schema: schemaOf(response),
        })),
      );
      const requests = all.map(({ operationId, requestBody }) => ({ at: operationId, schema: schemaOf(requestBody) }));
      const fields = (holders: typeof answers) =>
        holders.flatMap(({ at, schema }) => (schema === undefined ? [] : fieldsOf(contract, schema, at)));
      const parameters = all.flatMap(({ operationId, parameters: those = [] }) =>
        those.filter((one) => one.in === 'query').map(({ name }) => `${operationId} ${name}`),
      );
      return {
        statuses: without(
          answers.map(({ at }) => at),
          seen.statuses,
        ),
        answerFields: without(fields(answers), seen.answerFields),
        requestFields: without(fields(requests), seen.requestFields),
        parameters: without(parameters, seen.parameters),
      };
    },
  };
}

let recorder: ExchangeRecorder | undefined;

/** The recorder of this run, once a vault has given out its document; all vaults of a run have the same one. */
export function runRecorder(): ExchangeRecorder | undefined {
  return recorder;
}

/** Holds the exchanges of the run against the document of this vault from now on, unless one has been learned. */
export async function learnDocument(baseUrl: string): Promise<void> {
  if (recorder !== undefined) return;
  const document = await (await fetch(`${baseUrl}/openapi.json`)).json();
  recorder ??= createExchangeRecorder(createContract(document as DocumentContract['document']));
}
