//! JSON in both directions, next to the texts that k6 1.8.1 gives for the same definitions and values.

use std::{fs, path::PathBuf, sync::Arc};

use prost::Message as _;
use prost_reflect::DynamicMessage;

use super::*;

fn protos() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/foreign/k6-scripts")
}

fn load(source: &Source) -> Result<Definitions, String> {
    Definitions::load(source, |path| {
        let content = fs::read(protos().join(path));
        content.map(Into::into).map_err(|_| format!("no file `{path}`"))
    })
}

fn laboratory() -> Arc<Definitions> {
    let source = Source::Files {
        folders: vec!["protos".to_owned()],
        files: vec!["laboratory.proto".to_owned()],
    };
    Arc::new(load(&source).unwrap())
}

#[test]
fn files_are_found_in_folders_and_named_when_they_are_missing() {
    let check = |folders: &[&str], file: &str, expected: &str| {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let source = Source::Files {
            folders: texts(folders),
            files: texts(&[file]),
        };
        let error = load(&source).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    check(&["protos"], "nothing.proto", "no file `protos/nothing.proto`");
    check(&[], "protos/laboratory.proto", "no file `shared/kinds.proto`");
    check(&[], "name.txt", "name.txt:1:");
    let methods: Vec<_> = laboratory().methods().map(|(path, _)| path).collect();
    assert_eq!(methods.len(), 7);
    assert_eq!(methods[0], "/laboratory.Laboratory/Echo");
}

/// The set of descriptors beside the definitions, which end-to-end tests load, is made of them.
#[test]
fn the_set_of_descriptors_is_that_of_the_files() {
    let path = protos().join("protos/laboratory.pb");
    let made = laboratory().pool().encode_to_vec();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert_eq!(fs::read(&path).unwrap(), made, "UPDATE_EXPECT=1 writes it");
    let set = load(&Source::Set("protos/laboratory.pb".to_owned())).unwrap();
    assert!(set.method("/laboratory.Laboratory/Chat").is_some());
    let error = load(&Source::Set("name.txt".to_owned())).unwrap_err();
    assert!(
        error.starts_with("couldn't unmarshal protoset file name.txt: "),
        "{error}"
    );
}

/// What comes back of a request over the wire.
fn echo(json: &str) -> Result<String, String> {
    let definitions = [laboratory()];
    let kind = definitions[0]
        .method("/laboratory.Laboratory/Echo")
        .unwrap()
        .input();
    let types = Types(&definitions);
    let message = read(json, &kind, types).map_err(|error| error.to_string())?;
    let received = DynamicMessage::decode(kind, &*message.encode_to_vec()).unwrap();
    write(&received, types).map_err(|error| error.to_string())
}

#[test]
fn an_empty_message_has_all_defaults() {
    let expected = "{\"textValue\":\"\",\"small\":0,\"large\":\"0\",\"largest\":\"0\",\"single\":0,\"double\":0,\
        \"flag\":false,\"data\":\"\",\"colour\":\"NONE\",\"inner\":null,\"numbers\":[],\"inners\":[],\"counts\":{},\
        \"byNumber\":{},\"at\":null,\"lasts\":null,\"object\":null,\"anything\":null,\"any\":null,\"wrapped\":null,\
        \"wrappedLarge\":null,\"mask\":null,\"nothing\":null,\"zigzag\":0,\"fixed\":\"0\",\"other\":\"\",\
        \"unsigned\":0,\"colours\":[]}";
    assert_eq!(echo("{}").as_deref(), Ok(expected));
    let nulls = "{\"textValue\":null,\"inner\":null,\"numbers\":null,\"wrapped\":null,\"word\":null}";
    assert_eq!(echo(nulls).as_deref(), Ok(expected));
}

#[test]
fn values_come_back_as_k6_shows_them() {
    let check = |sent: &str, expected: &str| {
        let found = echo(sent).unwrap();
        assert!(found.contains(expected), "{found} without {expected}");
    };
    for same in [
        "\"textValue\":\"a\\\"\\u0000ü\"",
        "\"small\":-5",
        "\"single\":0.1",
        "\"single\":\"NaN\"",
        "\"double\":\"-Infinity\"",
        "\"flag\":true",
        "\"data\":\"aGk=\"",
        "\"colour\":\"DARK_BLUE\"",
        "\"inner\":{\"text\":\"t\",\"inner\":{\"text\":\"\",\"inner\":null}}",
        "\"counts\":{\"a\":\"1\",\"b\":\"2\"}",
        "\"byNumber\":{\"1\":{\"text\":\"x\",\"inner\":null}}",
        "\"maybe\":\"\"",
        "\"word\":\"\"",
        "\"at\":\"2020-01-02T03:04:05.678Z\"",
        "\"at\":\"1969-12-31T23:59:59Z\"",
        "\"lasts\":\"1.500s\"",
        "\"lasts\":\"-3s\"",
        "\"object\":{\"a\":[1,null,\"x\"],\"b\":{\"c\":true}}",
        "\"anything\":[1,{\"x\":2}]",
        "\"any\":{\"@type\":\"type.googleapis.com/laboratory.Inner\",\"text\":\"q\",\"inner\":null}",
        "\"any\":{\"@type\":\"type.googleapis.com/google.protobuf.Duration\",\"value\":\"2s\"}",
        "\"any\":{}",
        "\"wrapped\":\"w\"",
        "\"wrappedLarge\":\"77\"",
        "\"mask\":\"fooBar,baz.quxQuux\"",
        "\"nothing\":{}",
        "\"other\":\"r\"",
        "\"colours\":[\"RED\",77]",
    ] {
        check(&format!("{{{same}}}"), same);
    }
    check(
        "{\"small\":\"5\",\"large\":9007199254740993}",
        "\"small\":5,\"large\":\"9007199254740993\"",
    );
    check(
        "{\"largest\":\"18446744073709551615\"}",
        "\"largest\":\"18446744073709551615\"",
    );
    check("{\"fixed\":1e3,\"numbers\":[1,\"2\",3.0]}", "\"numbers\":[1,2,3]");
    check("{\"data\":\"-_8\"}", "\"data\":\"+/8=\"");
    check("{\"text_value\":\"a\",\"renamed\":\"b\"}", "\"textValue\":\"a\"");
    check("{\"colour\":2}", "\"colour\":\"DARK_BLUE\"");
}

#[test]
fn faults_are_in_k6s_words() {
    for (sent, expected) in [
        ("\"x\"", "syntax error (line 1:1): unexpected token \"x\""),
        ("[]", "syntax error (line 1:1): unexpected token ["),
        ("{\"x\":1}", "(line 1:2): unknown field \"x\""),
        (
            "{\"flag\":\"true\"}",
            "(line 1:9): invalid value for bool field flag: \"true\"",
        ),
        (
            "{\"data\":\"*\"}",
            "(line 1:9): invalid value for bytes field data: \"*\"",
        ),
        (
            "{\"colour\":\"PINK\"}",
            "(line 1:11): invalid value for enum field colour: \"PINK\"",
        ),
        ("{\"numbers\":5}", "syntax error (line 1:12): unexpected token 5"),
        ("{\"inner\":5}", "syntax error (line 1:10): unexpected token 5"),
        (
            "{\"counts\":{\"a\":\"x\"}}",
            "(line 1:16): invalid value for int64 field value: \"x\"",
        ),
        (
            "{\"byNumber\":{\"x\":{}}}",
            "(line 1:14): invalid value for int32 key: \"x\"",
        ),
        (
            "{\"at\":\"x\"}",
            "(line 1:7): invalid google.protobuf.Timestamp value \"x\"",
        ),
        ("{\"at\":5}", "syntax error (line 1:7): unexpected token 5"),
        (
            "{\"lasts\":\"1\"}",
            "(line 1:10): invalid google.protobuf.Duration value \"1\"",
        ),
        (
            "{\"any\":{\"text\":\"q\"}}",
            "(line 1:8): missing \"@type\" field",
        ),
        (
            "{\"any\":{\"@type\":\"x/y.Z\"}}",
            "(line 1:17): unable to resolve \"x/y.Z\": \"not found\"",
        ),
        (
            "{\"small\":3000000000}",
            "(line 1:10): invalid value for int32 field small: 3000000000",
        ),
        (
            "{\"small\":1.5}",
            "(line 1:10): invalid value for int32 field small: 1.5",
        ),
        (
            "{\"unsigned\":-1}",
            "(line 1:13): invalid value for uint32 field unsigned: -1",
        ),
        (
            "{\"single\":1e+39}",
            "(line 1:11): invalid value for float field single: 1e+39",
        ),
        (
            "{\"textValue\":\"a\",\"text_value\":\"b\"}",
            "(line 1:18): duplicate field \"text_value\"",
        ),
        (
            "{\"word\":\"x\",\"number\":1}",
            "(line 1:13): error parsing \"number\", oneof laboratory.Kinds.choice is already set",
        ),
        (
            "{\"mask\":\"a_b\"}",
            "(line 1:9): google.protobuf.FieldMask.paths contains invalid path: \"a_b\"",
        ),
        (
            "{\"wrapped\":5}",
            "(line 1:12): invalid value for string field value: 5",
        ),
        (
            "{\"numbers\":[5,\"x\"]}",
            "(line 1:15): invalid value for int32 field numbers: \"x\"",
        ),
        (
            "{\"numbers\":[null]}",
            "(line 1:13): invalid value for int32 field numbers: null",
        ),
        (
            "{\"inner\":{\"text\":1}}",
            "(line 1:18): invalid value for string field text: 1",
        ),
    ] {
        assert_eq!(echo(sent), Err(format!("proto: {expected}")), "{sent}");
    }
    let deep = format!("{}{}", "{\"inner\":".repeat(200), "}".repeat(200));
    assert!(
        echo(&deep)
            .unwrap_err()
            .ends_with("exceeded maximum recursion depth")
    );
}
