import { JSONPathEnvironment, type JSONPathQuery, jsonpath, TokenKind } from 'json-p3';
import type { Json } from '../domain/json.ts';
import { ExpressionFault } from './fault.ts';
import type { CompiledPatterns } from './i-regexp.ts';
import { holds } from './json-path-filter.ts';
import type { Budget } from './limits.ts';

const { FilterSelector, IndexSelector, NameSelector, SliceSelector, WildcardSelector } = jsonpath.selectors;

/** Characters of one JSONPath query. */
const MAX_QUERY_LENGTH = 1_000;
/** Nodes that one query may visit or select, all its segments and filters together. */
const MAX_VISITS = 100_000;

const environment = new JSONPathEnvironment({ strict: true });

/**
 * Parses a query of RFC 9535, checking the types of its functions too. Throws ExpressionFault.
 *
 * The library only parses. Its own evaluation is bounded neither in nodes nor in the time of a regular expression.
 */
export function parseJsonPath(query: string): JSONPathQuery {
  if (query.length > MAX_QUERY_LENGTH) {
    throw new ExpressionFault(`path must not be longer than ${MAX_QUERY_LENGTH} characters`);
  }
  try {
    return environment.compile(query);
  } catch {
    throw new ExpressionFault('path must be a JSONPath query (RFC 9535)');
  }
}

/** The selected values in the order of RFC 9535. Throws ExpressionFault once the query has visited too many nodes. */
export function queryJsonPath(query: JSONPathQuery, root: Json, budget: Budget): Json[] {
  return new Evaluation(root, budget).select(query, root);
}

/** One run of a query: what it and the queries within its filters share. */
export class Evaluation {
  readonly root: Json;
  readonly patterns: CompiledPatterns = new Map();
  readonly #budget: Budget;
  #visits = 0;

  constructor(root: Json, budget: Budget) {
    this.root = root;
    this.#budget = budget;
  }

  /** Charges `units` of work: nodes visited or compared, or what takes as long. */
  charge(units: number): void {
    this.#visits += units;
    if (this.#visits > MAX_VISITS) throw new ExpressionFault('the path visits too many values');
    this.#budget.spend(units);
  }

  select(query: JSONPathQuery, start: Json): Json[] {
    let nodes = [start];
    for (const segment of query.segments) {
      const selected: Json[] = [];
      const descends = segment.token.kind === TokenKind.DDOT;
      for (const node of nodes) {
        for (const visited of descends ? this.#descendants(node) : [node]) {
          for (const selector of segment.selectors) this.#apply(selector, visited, selected);
        }
      }
      nodes = selected;
    }
    return nodes;
  }

  /** The node and everything below it, parents before children; on a stack of its own, however deep the data. */
  *#descendants(node: Json): Generator<Json> {
    const open = [node];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      this.charge(1);
      yield next;
      const children = childrenOf(next);
      this.charge(children.length);
      for (let index = children.length - 1; index >= 0; index--) open.push(children[index]!);
    }
  }

  #apply(selector: jsonpath.JSONPathSelector, node: Json, selected: Json[]): void {
    this.charge(1);
    if (selector instanceof NameSelector) {
      if (isObject(node) && Object.hasOwn(node, selector.name)) selected.push(node[selector.name]!);
    } else if (selector instanceof IndexSelector) {
      const element = Array.isArray(node) ? node.at(selector.index) : undefined;
      if (element !== undefined) selected.push(element);
    } else if (selector instanceof SliceSelector) {
      if (Array.isArray(node)) this.#slice(selector, node, selected);
    } else if (selector instanceof WildcardSelector) {
      const children = childrenOf(node);
      this.charge(children.length);
      for (const child of children) selected.push(child);
    } else if (selector instanceof FilterSelector) {
      for (const child of childrenOf(node)) {
        this.charge(1);
        if (holds(selector.expression, child, this)) selected.push(child);
      }
    }
  }

  /** RFC 9535, section 2.3.4.2. */
  #slice({ start, stop, step = 1 }: jsonpath.selectors.SliceSelector, array: Json[], selected: Json[]): void {
    if (step === 0) return;
    const { length } = array;
    const lowest = step > 0 ? 0 : -1;
    const bound = (index: number): number =>
      Math.min(Math.max(index < 0 ? index + length : index, lowest), length + lowest);
    const end = stop === undefined ? (step > 0 ? length : -1) : bound(stop);
    let index = start === undefined ? (step > 0 ? 0 : length - 1) : bound(start);
    for (; step > 0 ? index < end : index > end; index += step) {
      this.charge(1);
      selected.push(array[index]!);
    }
  }
}

function isObject(node: Json): node is { [member: string]: Json } {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}

function childrenOf(node: Json): Json[] {
  if (Array.isArray(node)) return node;
  return isObject(node) ? Object.values(node) : [];
}
