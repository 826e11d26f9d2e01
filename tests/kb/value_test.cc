#include "kb/value.h"

#include <gtest/gtest.h>

#include <limits>

namespace kb {
namespace {

TEST(Value, EachTypeAnswersOnlyForItself) {
  EXPECT_TRUE(Value().IsNull());
  EXPECT_TRUE(Value(true).AsBool());
  EXPECT_EQ(Value("x").AsInt(7), 7);
  EXPECT_EQ(Value(3).AsDouble(), 3.0);
  EXPECT_EQ(Value(2.5).AsInt(7), 7);
  EXPECT_EQ(Value(3).AsString(), "");
  EXPECT_TRUE(Value("x").AsList().empty());
  EXPECT_TRUE(Value("x").AsMap().empty());
  EXPECT_STREQ(Value(Value::List{}).TypeName(), "list");
  EXPECT_STREQ(Value(Value::Map{}).TypeName(), "map");
}

TEST(Value, MapsKeepTheirOrderAndTheFirstOfRepeatedKeysWins) {
  Value map;
  map.Set("b", 1).Set("a", 2).Set("b", 3);
  ASSERT_EQ(map.AsMap().size(), 3u);
  EXPECT_EQ(map.AsMap()[0].first, "b");
  EXPECT_EQ(map["b"].AsInt(), 1);
  EXPECT_TRUE(map.Has("a"));
  EXPECT_FALSE(map.Has("c"));
  EXPECT_TRUE(map["c"]["deeper"].IsNull());
}

TEST(Value, AddMakesAListOfNull) {
  Value list;
  list.Add("x").Add(2);
  ASSERT_EQ(list.AsList().size(), 2u);
  EXPECT_EQ(list.AsList()[1].AsInt(), 2);
}

TEST(Value, TextOfScalarsKeepsTheirType) {
  const struct {
    Value value;
    const char* text;
  } cases[] = {
      {Value(), ""},
      {Value(true), "true"},
      {Value(-5), "-5"},
      {Value(9.0), "9.0"},
      {Value(0.1), "0.1"},
      {Value(1e300), "1e+300"},
      {Value("a"), "a"},
      {Value(-0.0), "-0.0"},
      {Value(Value::List{Value(1)}), ""},
      {Value(-std::numeric_limits<double>::infinity()), "-.inf"},
  };
  for (const auto& c : cases) EXPECT_EQ(c.value.ToText(), c.text);
}

TEST(Value, EqualityIgnoresLinesAndKeepsTypesApart) {
  Value a("x"), b("x");
  a.set_line(4);
  EXPECT_EQ(a, b);
  EXPECT_FALSE(Value(1) == Value(1.0));
  EXPECT_FALSE(Value("1") == Value(1));
}

}  // namespace
}  // namespace kb
