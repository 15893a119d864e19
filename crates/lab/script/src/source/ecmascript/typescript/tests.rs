//! Each construct of TypeScript and what is left of it.

use std::{path::Path, sync::Arc};

use expect_test::{Expect, expect};

use crate::source::{Platform, Specifier, ecmascript::read};

fn erased(source: &str) -> Result<String, String> {
    let name = Specifier::of_file(Path::new("/chat.ts")).expect("an absolute path");
    let module = read(&name, &Arc::from(source), Platform::K6).map_err(|error| error.to_string())?;
    Ok(module.text.to_string())
}

/// Lines never move; neither do columns, unless something is generated, which the snapshot shows. A `·` is a space.
fn check(source: &str, expected: &Expect) {
    let text = erased(source).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(text.lines().count(), source.lines().count(), "{text}");
    expected.assert_eq(&text.replace(' ', "·"));
}

#[test]
fn types_become_spaces() {
    check(
        "let a: number = 1, b!: Map<string, A>;\nfunction f<T extends object>(this: Window, x?: T, ...rest: A[]): x is T { return x!.y as any as T; }",
        &expect![[r#"
            let·a·········=·1,·b·················;
            function·f··················(··············x····,·...rest·····)·········{·return·x·.y············;·}"#]],
    );
    check(
        "const g = async <T,>(x: T = <T>null): Promise<T> => x satisfies T;\ntry {} catch (e: unknown) {}\nnew Map<string, number>(); f<A>`x`; const h = f<string>;",
        &expect![[r#"
            const·g·=·async·····(x····=····null)·············=>·x············;
            try·{}·catch·(e·········)·{}
            new·Map················();·f···`x`;·const·h·=·f········;"#]],
    );
    check(
        "f(function (this: A) {}, function (this: A,) {});",
        &expect!["f(function·(·······)·{},·function·(········)·{});"],
    );
    check(
        "type A = { a: string };\ninterface B extends A { b?: number }\ndeclare const c: A;\ndeclare global { var d: A }\ndeclare module 'x' { const e: A }\nnamespace F { export type G = A }\nfunction over(a: string): void;\nfunction over(a: any) {}\nexport {}",
        &expect![[r#"
            ;······················
            ;···································
            ;··················
            ;··························
            ;································
            ;································
            ;······························
            function·over(a·····)·{}
            export·{}"#]],
    );
}

#[test]
fn statements_stay_apart() {
    check(
        "let a: A\n(b)\nlet c = d as A\n[e]\nf\ntype G = A\n(h)\ni as A\n(j)",
        &expect![[r#"
            let·a;··
            (b)
            let·c·=·d;····
            [e]
            f
            ;·········
            (h)
            i;····
            (j)"#]],
    );
    check(
        "function f() { return a as A\n(b) }\nclass C { a: A\n['b'] = c as A\n['d']() {} }",
        &expect![[r#"
            function·f()·{·return·a;····
            (b)·}
            class·C·{·a;··
            ['b']·=·c;····
            ['d']()·{}·}"#]],
    );
    check(
        "for (let a: A; ;) {} for (const b of c as A[]) {}",
        &expect!["for·(let·a···;·;)·{}·for·(const·b·of·c·······)·{}"],
    );
}

#[test]
fn types_over_several_lines_do_not_break_arrows() {
    check(
        "const f = (a: A): Promise<\n  A\n> => a;",
        &expect![[r#"
        const·f·=·(a··············
        ···
        ·)·=>·a;"#]],
    );
    check(
        "const f = async <\n  T\n>(a: T) => a;",
        &expect![[r#"
        const·f·=·async·(·
        ···
        ··a···)·=>·a;"#]],
    );
}

#[test]
fn classes_keep_what_runs() {
    check(
        "export abstract class A<T> extends B<T> implements C, D<T> {\n  private static readonly a?: number = 1\n  declare b: string;\n  abstract c(): void;\n  [key: string]: any\n  public override async d?(): Promise<void> {}\n  e!: number;\n  f(): void\n  f(a?: any) {}\n  get g(): A { return this }\n  protected ['h'] = 1\n}",
        &expect![[r#"
            export··········class·A····extends·B·······················{
            ··;········static··········a··········=·1
            ··;·················
            ··;··················
            ··;·················
            ··;················async·d·()················{}
            ··e·········;
            ··;········
            ··f(a······)·{}
            ··get·g()····{·return·this·}
            ··;··········['h']·=·1
            }"#]],
    );
    check(
        "class A {\n  constructor(private readonly a: string, public b = 1, c?: A) { use(a); }\n}\nclass B extends A { constructor(override a: A) { 'use strict'; super(a); this.c(); } }",
        &expect![[r#"
            class·A·{
            ··constructor(·················a········,········b·=·1,·c····)·{;·this.a·=·a;·this.b·=·b;·use(a);·}
            }
            class·B·extends·A·{·constructor(·········a···)·{·'use·strict';·super(a);;·this.a·=·a;·this.c();·}·}"#]],
    );
}

#[test]
fn enums_are_objects() {
    check(
        "export enum A { X, Y = 2, // a, b\n  Z, 'a-b' = \"text\",\n  W = X | A.Y << 1 }\nconst enum B { delete = `x` }\ndeclare enum C { D }",
        &expect![[r#"
            export·var·A·=·((A)·=>·{·A[A["X"]·=·0]·=·"X";··A["Y"]·=·2;·typeof·A["Y"]·===·"number"·&&·(A[A["Y"]]·=·"Y");··//·a,·b
            ··A[A["Z"]·=·A["Y"]·+·1]·=·"Z";··A['a-b']·=·"text";·
            ··A["W"]·=·A.X·|·A.Y·<<·1;·typeof·A["W"]·===·"number"·&&·(A[A["W"]]·=·"W");·return·A;·})(A·||·{});
            var·B·=·((B)·=>·{·B["delete"]·=·`x`;·return·B;·})(B·||·{});
            ;···················"#]],
    );
}

#[test]
fn imports_that_are_only_types_go() {
    check(
        "import { Options } from 'k6/options';\nimport http, { type Response, RefinedResponse } from 'k6/http';\nimport { check, Checker, sleep } from 'k6';\nimport type { A } from './a';\nimport B, * as b from 'b';\nimport C, { c } from 'c';\nimport D, * as d from 'd';\nimport 'side-effect';\nimport {} from 'empty';\nexport type { A };\nexport { type E, c, F };\ntype F = Options;\nexport const options: Options = {};\nhttp.get(check, sleep, b, D as RefinedResponse<Checker>);",
        &expect![[r#"
            ;····································
            import·http,·{································}·from·'k6/http';
            import·{·check,··········sleep·}·from·'k6';
            ;····························
            import····*·as·b·from·'b';
            import····{·c·}·from·'c';
            import·D·········from·'d';
            import·'side-effect';
            import·{}·from·'empty';
            ;·················
            export·{·········c,···};
            ;················
            export·const·options··········=·{};
            http.get(check,·sleep,·b,·D····························);"#]],
    );
}

#[test]
fn lists_keep_their_commas() {
    check(
        "import { a, B, } from 'a';\nimport { C, d } from 'd';\nimport e, { F } from 'e';\nimport {\n  g,\n  H, // I, J\n} from 'g';\nexport { a, K, };\nexport { L, type M };\nexport { type N, d };\ntype K = B; type L = C;\na(d, e, g);",
        &expect![[r#"
            import·{·a,····}·from·'a';
            import·{····d·}·from·'d';
            import·e,·{···}·from·'e';
            import·{
            ··g,
            ·····//·I,·J
            }·from·'g';
            export·{·a,····};
            export·{···········};
            export·{·········d·};
            ;···········;··········
            a(d,·e,·g);"#]],
    );
}

#[test]
fn what_is_refused_says_what_to_write() {
    let cases = [
        (
            "namespace A { export const b = 1 }",
            "a namespace with values is not supported",
        ),
        ("import a = require('a');", "write import lib from"),
        ("const a = 1; export = a;", "write export default"),
        ("let a: = 1;", "syntax error"),
    ];
    for (source, expected) in cases {
        let error = erased(source).expect_err("refused");
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("/chat.ts:1:"), "{error}");
    }
}
